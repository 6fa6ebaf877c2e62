/** What a worker may see of the agent's environment: where programs and libraries are, and which devices to use. */
const names: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'USER',
  'LANG',
  'TZ',
  'TMPDIR',
  'TEMP',
  'TMP',
  'LD_LIBRARY_PATH',
  'DYLD_LIBRARY_PATH',
  'CUDA_VISIBLE_DEVICES',
  'CUDA_DEVICE_ORDER',
  'HIP_VISIBLE_DEVICES',
  'ROCR_VISIBLE_DEVICES',
  // Without these Windows starts no program at all.
  'SYSTEMROOT',
  'WINDIR',
  'COMSPEC',
  'PATHEXT',
]);
const prefixes = ['LC_', 'GGML_', 'STAGEPLANE_WORKER_'];

/** An allow-list: tokens and passwords that the agent was started with are no business of a worker. */
export function workerEnvironment(from: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const allowed = Object.entries(from).filter(([name]) => {
    const upper = name.toUpperCase();
    return names.has(upper) || prefixes.some((prefix) => upper.startsWith(prefix));
  });
  return Object.fromEntries(allowed);
}
