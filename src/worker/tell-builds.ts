/**
 * A program that loads the engines of this worker and says which build each of them is on this machine, as one JSON
 * object from name to build; an engine whose build cannot be told is left out. A worker's hello does not wait for that.
 */
import { engineList } from './engine/engines.js';

const builds: Record<string, string> = {};
for (const [name, engine] of engineList.offered) {
  const build = await engine.build();
  if (build !== undefined) builds[name] = build;
}
process.stdout.write(`${JSON.stringify(builds)}\n`);
