import type { Role } from '../core/role.js';

const everyone: readonly Role[] = ['agent', 'launcher', 'viewer', 'admin'];
const readers: readonly Role[] = ['viewer', 'launcher', 'admin'];
const launchers: readonly Role[] = ['launcher', 'admin'];
const admins: readonly Role[] = ['admin'];
/** Not even an admin: a session belongs to a node, and only an agent's certificate names one. */
const agents: readonly Role[] = ['agent'];

/**
 * Who may call what over mutual TLS, by the path of each method; what is not here nobody may. AdminService is not: its Unix
 * socket lets in the orchestrator's own user alone, and EnrollmentService is for those who have no certificate yet.
 */
export const accessTable: Readonly<Record<string, readonly Role[]>> = {
  '/stageplane.v1.OrchestratorService/ListRuns': readers,
  '/stageplane.v1.OrchestratorService/GetRun': readers,
  '/stageplane.v1.OrchestratorService/WatchRun': readers,
  '/stageplane.v1.OrchestratorService/WatchEvents': readers,
  '/stageplane.v1.OrchestratorService/GetStageLog': readers,
  '/stageplane.v1.OrchestratorService/ListNodes': readers,
  '/stageplane.v1.OrchestratorService/GetNode': readers,
  '/stageplane.v1.OrchestratorService/WatchNodes': readers,

  // These read files of the orchestrator's machine.
  '/stageplane.v1.OrchestratorService/InspectModel': launchers,
  '/stageplane.v1.OrchestratorService/PlanRun': launchers,
  '/stageplane.v1.OrchestratorService/CreateRun': launchers,
  '/stageplane.v1.OrchestratorService/StopRun': launchers,
  '/stageplane.v1.OrchestratorService/DeleteRun': launchers,
  '/stageplane.v1.OrchestratorService/Generate': launchers,

  '/stageplane.v1.OrchestratorService/CordonNode': admins,
  '/stageplane.v1.OrchestratorService/UncordonNode': admins,
  '/stageplane.v1.OrchestratorService/DrainNode': admins,
  '/stageplane.v1.OrchestratorService/DeleteNode': admins,

  '/stageplane.v1.NodeAgentService/Subscribe': agents,
  '/stageplane.v1.CertificateService/RenewCertificate': ['agent', 'launcher', 'viewer'],

  '/grpc.health.v1.Health/Check': everyone,
  '/grpc.health.v1.Health/List': everyone,
  '/grpc.health.v1.Health/Watch': everyone,
  '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo': everyone,
  '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo': everyone,
};
