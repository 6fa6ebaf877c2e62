import { execFileSync } from 'node:child_process';
import { packageRoot } from '../../src/package-root.js';
import type { Engine } from './engine.js';

/**
 * Builds the image as deploy/README.md says, from a clean checkout: what git knows of this tree, as it lies here.
 *
 * @param nodeImage NODE_IMAGE of the Dockerfile
 * @param folder an empty one, for the checkout
 */
export async function buildImage(engine: Engine, tag: string, nodeImage: string, folder: string): Promise<void> {
  const checkout = 'git ls-files -z | tar --create --null --files-from - | tar --extract --directory "$1"';
  execFileSync('sh', ['-c', checkout, 'sh', folder], { cwd: packageRoot() });
  const file = `${folder}/deploy/container/Dockerfile`;
  await engine.run('build', '--file', file, '--build-arg', `NODE_IMAGE=${nodeImage}`, '--tag', tag, folder);
}
