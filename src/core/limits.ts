/** Every bound of the product, with its unit and its reason (I16). */
export const limits = {
  // --- planning
  /** Stages of one request over gRPC. A plan of 512 stages still fits in one message. */
  stagesPerRequest: 512,
  /** Violations listed in one rejection: enough to fix a file, few enough to read. */
  violationsPerRejection: 16,
  /** Bytes of a path, repository or file name in a request: it is repeated in every stage of a plan. */
  pathBytes: 1024,
  /** Bytes of an inline prompt. */
  promptBytes: 256 * 1024,
  /** Bytes of a request id. */
  requestIdBytes: 128,
  /** Rows of one step; ggml's own ceiling is far above what helps. */
  microBatchRows: 65_536,

  // --- messages
  /** Bytes of one message that the orchestrator accepts. */
  serverReceiveBytes: 1024 * 1024,
  /** Bytes of one message that a client accepts: a run of 512 stages with its plan and statuses. */
  clientReceiveBytes: 8 * 1024 * 1024,
  /** Bytes of `google.rpc.Status` in trailers; above about 50 KB grpc-js hangs the client. */
  statusDetailsBytes: 4096,
  /** Streams that one connection may open. */
  streamsPerConnection: 128,
  /** Bytes of sessions that one HTTP/2 connection may hold, in MiB. */
  connectionMemoryMiB: 32,
  /** Messages queued for one slow stream before it is dropped. */
  queuedPerStream: 4096,
  /** Entries of one page. */
  pageSize: 1000,
  /** Entries of a page when the request does not say. */
  defaultPageSize: 100,

  // --- the pool
  /** Nodes that may ever join. */
  nodes: 10_000,
  /** Bytes of a node name: a DNS label, so that a resolver can use it. */
  nameBytes: 63,
  /** Bytes of an instance or process id. */
  instanceIdBytes: 64,
  /** Devices and engines that one node may list. */
  devicesPerNode: 64,
  /** Labels of one node. */
  labelsPerNode: 64,
  /** Stages that one agent may hold. */
  heldStagesPerNode: 512,
  /** Messages of one session that the loop has not taken yet. */
  queuedPerSession: 4096,

  // --- runs
  /** Runs kept, finished ones included; further ones are refused until some are deleted. */
  runs: 10_000,
  /** Watchers of runs and nodes together. */
  watchers: 1000,
  /** Events that one turn of the loop takes, so that one commit stays short. */
  eventsPerTurn: 1024,
  /** Events that wait for the loop; further requests are refused with RESOURCE_EXHAUSTED. */
  queuedEvents: 65_536,

  // --- faults
  /** Bytes of a fault's sentence. */
  faultMessageBytes: 1024,
  /** Log lines that travel with a fault. */
  logTailLines: 20,
  /** Bytes of one log line. */
  logLineBytes: 512,
  /** Log lines that one request may ask of an agent. */
  logRequestLines: 1000,
  /** Bytes of one worker's log file before it is rotated; one older file is kept. */
  workerLogBytes: 1024 * 1024,
  /** Bytes of one line of a worker's stdout. */
  workerLineBytes: 64 * 1024,

  // --- GGUF files
  /** Bytes of a header, vocabulary included; the largest known are about 30 MB. */
  ggufHeaderBytes: 256 * 1024 * 1024,
  /** Metadata keys of one file. */
  ggufMetadataKeys: 65_536,
  /** Elements of one metadata array. */
  ggufArrayElements: 16 * 1024 * 1024,
  /** Tensors of one model; DeepSeek-R1 has 1025. */
  ggufTensors: 1_000_000,
  /** Layers of one model. */
  ggufLayers: 65_536,
  /** Shards of one model. */
  ggufShards: 10_000,
} as const;
