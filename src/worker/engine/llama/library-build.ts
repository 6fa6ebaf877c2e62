import { readFileSync } from 'node:fs';
import { LLAMA_BUILD } from './llama-package.js';

/**
 * Names what decides the arithmetic of the loaded library: its release, the platform, the kernels that it took for this
 * processor, and the C library, whose functions some of them call. Undefined when the kernels cannot be told. Only after
 * `openLlamaLibrary`.
 */
export function libraryBuild(): string | undefined {
  const kernels = loadedKernels(readFileSync('/proc/self/maps', 'utf8'));
  if (kernels === undefined) return undefined;
  return `llama.cpp ${LLAMA_BUILD.release} ${process.platform}-${process.arch} ${kernels}, glibc ${glibcVersion()}`;
}

/** @param maps text of /proc/self/maps; the library opens many files of kernels and keeps the best one open */
export function loadedKernels(maps: string): string | undefined {
  const names = new Set([...maps.matchAll(/\/libggml-cpu-(\w+)\.so$/gm)].map(([, name]) => name));
  return names.size === 1 ? [...names][0] : undefined;
}

function glibcVersion(): string {
  // Otherwise the report asks for the names of all connected hosts.
  Object.assign(process.report, { excludeNetwork: true });
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime ?? 'unknown';
}
