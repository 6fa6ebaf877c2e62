import type { HealthCheck, Service } from '../deploy/compose-file.js';

/** What a service is given that the file does not say. */
export interface Surroundings {
  /** Names of containers, volumes and the network begin with it. */
  readonly project: string;
  readonly image: string;
  /** Folder that is MODELS. */
  readonly models: string;
}

/** The words of `docker run` for a service: what `docker compose up` asks of the daemon, but for ports, which are any free ones. */
export function runArguments(name: string, service: Service, { project, image, models }: Surroundings): string[] {
  const volume = (mount: string) =>
    mount.startsWith('${') ? mount.replace(/^\$\{.*?\}/, models) : `${project}-${mount}`;
  const anyPort = (port: string) => port.replace(/^([\d.]+):\d+:/, '$1::');
  const [program, ...words] = (service.entrypoint ?? []).map((word) => word.replaceAll('$$', '$'));
  return [
    ...['--name', `${project}-${name}`, '--network', project, '--network-alias', name],
    ...(service.init ? ['--init'] : []),
    ...(service.read_only ? ['--read-only'] : []),
    ...each('--cap-drop', service.cap_drop),
    ...each('--security-opt', service.security_opt),
    ...each('--tmpfs', service.tmpfs),
    ...each('--volume', service.volumes?.map(volume)),
    ...each('--publish', service.ports?.map(anyPort)),
    ...each('--env', pairs(service.environment)),
    ...one('--restart', service.restart),
    ...one('--stop-timeout', service.stop_grace_period?.replace(/s$/, '')),
    ...healthArguments(service.healthcheck),
    ...one('--entrypoint', program),
    image,
    ...words,
    ...(service.command ?? []),
  ];
}

function healthArguments(check: HealthCheck = {}): string[] {
  if (check.disable) return ['--no-healthcheck'];
  return [
    ...one('--health-cmd', check.test?.slice(1).join(' ')),
    ...one('--health-interval', check.interval),
    ...one('--health-timeout', check.timeout),
    ...one('--health-start-period', check.start_period),
  ];
}

const one = (flag: string, value: string | undefined) => (value === undefined ? [] : [flag, value]);
const each = (flag: string, values: readonly string[] = []) => values.flatMap((value) => [flag, value]);
const pairs = (map: Readonly<Record<string, string>> = {}) =>
  Object.entries(map).map(([key, value]) => `${key}=${value}`);
