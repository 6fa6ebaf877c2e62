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

  /** Nodes over whose every choice and order a placement is searched: 2^8 subsets take milliseconds, 2^16 would not. */
  placementSubsetNodes: 8,
  /** Ranges between cuts that a placement is searched over: real models have up to 128, a hostile header could say 65 536. */
  placementUnits: 256,
  /** Steps of the search over one order of nodes, some nanoseconds each: nobody else is answered meanwhile. */
  placementSteps: 32 * 1024 * 1024,
  /** Nodes that are looked at for the smallest grant of memory that would make a plan; each is a search of its own. */
  nearestMissNodes: 8,
  /** Halvings of a grant of memory until it is near enough to the least one: each is a search of its own. */
  grantLooks: 7,

  /** CPU threads that one stage may ask for. */
  threadsPerStage: 1024,
  /** Conversations that one stage may hold at once. */
  sessionsPerStage: 4096,
  /** Models whose header the orchestrator keeps read. */
  cachedModels: 64,

  /** Tokens of a conversation when nobody says: a model's full context would reserve memory that nobody asked for. */
  defaultContextTokens: 4096,
  /**
   * Rows of a micro-batch when nobody says. A prompt fills the pipeline in pieces of so many rows, a decode waits for one
   * of them, and a cancel too; on processors a row costs the same in 64 as in 512.
   */
  defaultMicroBatchRows: 128,

  /** Bytes of a file that describes a pool: its most nodes, each with a hundred times what it needs. */
  poolFileBytes: 1024 * 1024,
  /** Nodes of such a file, copies included: far more than one model is ever cut for. */
  poolFileNodes: 1000,
  /** Places where such a file may repeat what it has named before: a few common parts, and no bomb of them. */
  poolFileAliases: 1000,
  /** CPU cores of one node in such a file. */
  coresPerNode: 65_536,

  // --- memory
  /** Bytes of a device that no plan may use: what its system, driver and desktop take between two heartbeats. */
  deviceReserveBytes: 256 * 1024 ** 2,
  /** Thousandths of a device that stay free when nobody says: estimates err, and other programs grow. */
  defaultHeadroomMillis: 200,
  /** Share of what a node can give above which a plan warns. */
  fullShareOfUsable: 0.9,
  /** Milliseconds that a link delays a token when nobody declares it: a wired one, through a switch. */
  assumedLinkMillis: 0.5,
  /** Milliseconds that both ends of a hop take for a token; measured between processes of one machine. */
  hopWorkMillis: 0.3,
  /** Seconds that a piece of a prompt may take over a declared link before a plan warns. */
  slowLinkSeconds: 1,
  /** Tokens below which no plan suggests a shorter context: it would be an answer to nobody. */
  leastContextHint: 512,
  /** Dry runs whose placement is remembered, for a run that expects it. */
  recentPlans: 256,
  /** Thousandths by which a stage may exceed its reservation before that is said: drivers and buffers vary a little. */
  reservationToleranceMillis: 100,
  /** Measured stages of one model that correct what is planned for others: a search asks each of them every time. */
  measuredRanges: 64,
  /** How many times its estimate a stage's measurement may be: engines keep a second copy of weights, and hardly a third. */
  measuredPerEstimate: 2,
  /** Bytes of a stage's compute buffers at least: what small models need beside the largest product. */
  computeFloorBytes: 64 * 1024 ** 2,
  /** Bytes of RAM of a stage's process itself: its runtime, its library, its threads. */
  processOverheadBytes: 150 * 1024 ** 2,
  /** Bytes of an accelerator's memory that its driver takes for a process: 250 to 500 MiB are seen, the larger is safe. */
  acceleratorOverheadBytes: 500 * 1024 ** 2,

  // --- beginning again
  /**
   * Milliseconds from the end of a lease to the moment when a node counts as fenced, or a tenth of the lease when that is
   * longer: its clock may go slower than ours, and its workers get 5 s to stop before they are killed.
   */
  fenceMarginMillis: 15_000,
  /** Milliseconds before a run's second attempt when nobody says; it doubles with each. */
  restartBackoffMillis: 1000,
  /** Milliseconds between two attempts at most. */
  restartBackoffMaxMillis: 5 * 60_000,
  /** Milliseconds between two looks at whether a node that is back has ended what it held, before its run begins again. */
  restartWaitMillis: 1000,
  /** Attempts after the first of a run that `up` starts: a machine that sleeps or is plugged out is no end of it. */
  upRestarts: 3,
  /** Milliseconds between two looks of an `up` at whether another one has done with a data folder. */
  upWaitMillis: 200,
  /** Attempts after the first that a run may ask for: with the longest backoff, most of a working day. */
  restartAttempts: 100,
  /**
   * Milliseconds from one plan that nobody waits for to the next. A search may take a tenth of a second, and a lost node
   * may have held the stages of fifty runs: whoever asks for something meanwhile is answered in between.
   */
  planPauseMillis: 20,
  /** Milliseconds between two looks whether a run fits beside a node that is drained. */
  drainCheckMillis: 5000,
  /** Milliseconds that a run which is to move off a drained node lets its answers go on; it takes no prompt meanwhile. */
  moveAnswersMillis: 30_000,
  /** Milliseconds by which the wall clock may be corrected, in all, before a drain follows it. */
  wallJumpMillis: 2000,
  /** Milliseconds that a drain may take. */
  drainMillis: 30 * 24 * 60 * 60_000,

  // --- messages
  /** Bytes of one message that the orchestrator accepts. */
  serverReceiveBytes: 1024 * 1024,
  /** Bytes of one message that a client accepts: a run of 512 stages with its plan and statuses. */
  clientReceiveBytes: 8 * 1024 * 1024,
  /** Bytes of `google.rpc.Status` in trailers; above about 50 KB grpc-js hangs the client. */
  statusDetailsBytes: 4096,
  /** Streams that one connection may open. */
  streamsPerConnection: 128,
  /** Bytes of a call's metadata; ours has none. More than 128 headers Node itself refuses. */
  metadataBytes: 16 * 1024,
  /** Bytes of sessions that one HTTP/2 connection may hold, in MiB. */
  connectionMemoryMiB: 32,
  /** Milliseconds without a frame after which either side asks whether the other is alive. */
  keepaliveMillis: 20_000,
  /** Milliseconds that the answer may take; a frozen peer is noticed after both, within a node's grace of 30 s. */
  keepaliveAnswerMillis: 10_000,
  /** Milliseconds that a connection without a call stays open. */
  idleConnectionMillis: 10 * 60_000,
  /** Connections of the public port: four for each node of a pool of a thousand, within the open files of a daemon. */
  connections: 4096,
  /** Connections from one address: a demo's agents and many a launcher's share one. */
  connectionsPerAddress: 1024,
  /** Connections without a call yet; then the oldest goes. A pool of hundreds that comes back at once is in between. */
  strangers: 512,
  /** Connections of the HTTP port, from everywhere: a page holds one or two, a program one for each answer under way. */
  httpConnections: 1024,
  /** Connections of the HTTP port without a request that was let in; then the oldest goes, so that others find room. */
  httpStrangers: 512,
  /** Requests under way on one connection over HTTP: clients of today send one after the other. */
  httpPipelined: 8,
  /** Bytes of a request's body over HTTP: a prompt, with what JSON makes of each of its bytes at worst. */
  httpBodyBytes: 2 * 1024 * 1024,
  /** Lists and objects in each other in a body over HTTP: messages of ours need ten. */
  jsonDepth: 64,
  /** Bytes of a request's headers over HTTP. */
  httpHeaderBytes: 16 * 1024,
  /** Milliseconds until a request over HTTP has arrived. */
  httpRequestMillis: 30_000,
  /** Milliseconds between two looks for requests that have not arrived in time. */
  httpCheckMillis: 5000,
  /** Milliseconds that a connection without a request stays open. */
  httpIdleMillis: 60_000,
  /** Milliseconds between two comments on an event stream with nothing to say; proxies cut silent ones after a minute. */
  eventStreamPulseMillis: 15_000,
  /** Milliseconds after which a client over HTTP may ask a run again that is not there yet, or is full. */
  httpRetryMillis: 2000,
  /** Milliseconds that a browser waits before it opens an event stream again: an orchestrator restarts in a second or two. */
  eventStreamRetryMillis: 1000,
  /** Connections of the enrolment port, where everybody may knock and nobody stays. */
  enrollConnections: 256,
  /** Connections of the enrolment port from one address: a room of machines behind one router. */
  enrollConnectionsPerAddress: 64,
  /** Milliseconds of a TLS handshake; Node would wait 120 s. */
  handshakeMillis: 10_000,
  /** Milliseconds from a connection to its first call, handshake included; clients of gRPC connect to call. */
  firstCallMillis: 20_000,
  /**
   * Calls of one certificate, or of one connection without one: at once, and per second from then on. A loop over the CLI makes
   * some ten, agents a handful in their lives.
   */
  callsAtOnce: 4000,
  callsPerSecond: 1000,
  /** Messages of one incoming stream: at once, and per second from then on, where reading waits. A full agent has some hundred. */
  messagesAtOnce: 4096,
  messagesPerSecond: 1000,
  /**
   * Calls of one connection that its client takes back: at once, and per second from then on; then the connection ends. Each
   * costs us a call and the client nothing. Who leaves a watch takes one back.
   */
  resetsAtOnce: 256,
  resetsPerSecond: 32,
  /** Callers whose rate is remembered: every certificate. */
  ratedCallers: 25_000,
  /** Milliseconds between two attempts of an agent to connect; grpc-js would wait up to 120 s, longer than the grace. */
  reconnectMillis: 5000,
  /** Milliseconds of a call whose caller gives no deadline. */
  defaultDeadlineMillis: 30_000,
  /** Milliseconds of the longest deadline; above 24.8 days grpc-js overflows to "expired now". */
  deadlineMillis: 24 * 60 * 60_000,
  /** Milliseconds that open calls get to end when a server stops. */
  stopServerMillis: 5000,
  /** Milliseconds of the first wait before a broken watch is resumed; it doubles up to `reconnectMillis`. */
  watchBackoffMinMillis: 250,
  /** Events that `stageplane top` keeps to show at the bottom; more than any terminal has lines. */
  topEvents: 500,
  /** Events of one run that it keeps while somebody looks at that run. */
  topTimelineEvents: 2000,
  /** Runs that it shows, the newest; and reads anew each time, of those that are not DONE. */
  topRuns: 100,
  topReadRuns: 20,
  /** Milliseconds between two looks at what no watch tells: loading, load and which runs there are. */
  topLookMillis: 1000,
  /** Milliseconds between two pictures: more often than this nobody can read. */
  topFrameMillis: 100,
  /** Milliseconds that the CLI goes on trying to resume a watch; an orchestrator restarts in seconds, a machine in two minutes. */
  watchRetryMillis: 2 * 60_000,
  /** Bytes of the sentence of an error; percent-encoded in a header it may triple. */
  statusMessageBytes: 1024,
  /** Bytes of one field path or description in the details of an error. */
  violationBytes: 512,
  /** Bytes of a string that has no bound of its own. */
  stringBytes: 4096,
  /** Entries of a list or map that has no bound of its own. */
  listEntries: 10_000,
  /** Bytes of a Unix socket's path; the kernel's own bound is 104 on macOS and 108 on Linux. */
  socketPathBytes: 99,
  /** Messages queued for one slow stream before it is dropped. */
  queuedPerStream: 4096,
  /** Entries of one page. */
  pageSize: 1000,
  /** Entries of a page when the request does not say. */
  defaultPageSize: 100,

  /** Events that a watch reads from the store at once. */
  eventsPerRead: 100,

  // --- who may come in
  /** Join tokens that have not expired: more than one for each of a large pool's machines at once is a mistake. */
  joinTokens: 1000,
  /** Milliseconds that a join token is good for when nobody says: as long as it takes to walk to the machine. */
  joinTokenMillis: 60 * 60_000,
  /** Milliseconds that a join token may be good for; what lies in scripts for longer is forgotten there. */
  longestJoinTokenMillis: 30 * 24 * 60 * 60_000,
  /** Bytes of the secret of a join token: nobody guesses 256 bits. */
  tokenSecretBytes: 32,
  /** Keys of the HTTP port that are good: one for each program of a large house. */
  apiKeys: 1000,
  /** Bytes of the secret of a key: nobody guesses 256 bits. */
  keySecretBytes: 32,
  /** Milliseconds of the longest key that expires at all: 10 years. */
  longestKeyMillis: 10 * 365 * 24 * 60 * 60_000,
  /** Wrong keys from one address: at once, and per second from then on. A program with an old key asks again and again. */
  wrongKeysAtOnce: 20,
  wrongKeysPerSecond: 1,
  /** Certificates that were issued and have not expired: each node of the largest pool has one, and its renewal. */
  certificates: 25_000,
  /** Certificates of one holder that have not expired: one, its renewal, and those whose answer was lost on the way. */
  certificatesOfOne: 16,
  /** Milliseconds of a node's or client's certificate when nobody says; agents renew theirs at half of it. */
  certificateMillis: 90 * 24 * 60 * 60_000,
  /** Milliseconds of the longest certificate that an orchestrator issues. */
  longestCertificateMillis: 825 * 24 * 60 * 60_000,
  /** Milliseconds of a CA, and of what lies beside its key: 10 years. */
  caMillis: 10 * 365 * 24 * 60 * 60_000,
  /** Milliseconds that a new certificate is dated back: clocks of machines differ. */
  certificateSkewMillis: 5 * 60_000,
  /** Bytes of a certificate request in DER; one for P-256 has about 300. */
  csrBytes: 4096,
  /** Certificates of a server's chain that are looked at; ours have two. */
  chainLinks: 4,
  /** Bytes of a file with a certificate or key. */
  pemBytes: 64 * 1024,
  /** Milliseconds of the longest timer of the runtime; above it fires at once. */
  longestTimerMillis: 2 ** 31 - 1,
  /** Milliseconds that a command waits for its certificate to be renewed, after its own work: nobody asked for it. */
  passingRenewalMillis: 2_000,
  /** Milliseconds until an agent tries again to renew its certificate, at least. */
  renewalRetryMillis: 60_000,

  // --- the pool
  /** Nodes that may ever join. */
  nodes: 10_000,
  /** From so many nodes on, losing more than half of them at once is rather the orchestrator's own network. */
  massLossNodes: 10,
  /** Pinned node ids from here on are no history but an attack: a counter must never run out. */
  claimedCounter: 2n ** 62n,
  /** Likewise epochs: a generation session is named by its epoch and 32 bits. */
  claimedEpoch: 2n ** 31n,
  /** Epochs that an older copy of a store skips at least: more starts than it has missed. */
  lostEpochs: 1000n,
  /** Further epochs that a backup skips, drawn below this, so that the same one put back twice goes on in two places. */
  epochDraw: 1_000_000,
  /** Runs, nodes and revisions that go with each of them: a million at least in all, more than were lost. */
  idsPerLostEpoch: 1000n,
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
  /** Milliseconds that a session may take to say Hello. */
  helloMillis: 10_000,
  /** Messages of one session that the loop has not taken yet. */
  queuedPerSession: 4096,

  // --- runs
  /** Runs kept, finished ones included; further ones are refused until some are deleted. */
  runs: 10_000,
  /** Watchers of runs and nodes together. */
  watchers: 1000,
  /** Events that one turn of the loop takes, so that one commit stays short. */
  eventsPerTurn: 1024,
  /** Milliseconds after which a turn takes no further event: whatever else has arrived meanwhile is looked at in between. */
  turnStepMillis: 5,
  /** Nodes to which one turn sends what they are owed, for the same reason: a run may have a stage on hundreds. */
  nodesPerTurn: 32,
  /** Events that wait for the loop; further requests are refused with RESOURCE_EXHAUSTED. */
  queuedEvents: 65_536,

  /** Milliseconds between two looks at whether the loop still turns. */
  loopPulseMillis: 500,
  /** Milliseconds that a pulse may be late; above, the process itself was away, and silence says nothing of the nodes. */
  loopStallMillis: 2000,
  /** Milliseconds between two lines that say how far something is. */
  progressLineMillis: 1000,
  /** Milliseconds after which a timer is tried again whose turn could not be committed. */
  turnRetryMillis: 1000,
  /** Milliseconds that agents stay away from an orchestrator that stops. */
  goAwayDelayMillis: 500,
  /** Milliseconds that an agent gets to answer a question about a stage's log. */
  stageLogMillis: 5000,

  // --- the store
  /** Request records kept; twice the runs, so that a repeated request is known long after its run was deleted. */
  requestRecords: 20_000,
  /** Measured stages kept, oldest forgotten first: some 400 bytes each, and a model is cut in many ways. */
  footprintRecords: 10_000,
  /**
   * Records of the audit log kept, of each kind, oldest forgotten first: some 200 bytes each. What changed something is
   * kept longest; refusals by themselves, since anybody can make them.
   */
  auditRecords: { change: 50_000, run: 50_000, use: 20_000, refusal: 20_000 },
  /** Milliseconds in which the same call of the same caller that changes nothing is counted instead of written again. */
  auditWindowMillis: 60_000,
  /** Different calls of one kind, and of one sort of caller, in such a window that are written by themselves; what goes beyond is counted as one. */
  auditPerWindow: 100,
  /** Milliseconds that a record may wait whose call changed nothing, so that many are one write. */
  auditWaitMillis: 1000,
  /** Milliseconds that a look into the audit log may go back: no record is that old. */
  longestAuditMillis: 100 * 365 * 24 * 60 * 60_000,
  /** Milliseconds between two looks of whoever follows it. */
  auditFollowMillis: 1000,
  /** Records that wait while the disk takes none: some minutes of them. */
  auditWaiting: 2000,
  /** Bytes of what a record says of its call's target. */
  auditTargetBytes: 256,
  /** Ids, epochs and revisions in a column: integers of SQLite and PostgreSQL are signed and have 64 bits. */
  storedInteger: 2n ** 63n - 1n,
  /** Milliseconds that an open or a commit waits for a program that looks into the database. */
  databaseBusyMillis: 1000,
  /** Bytes of a database that is checked page by page when it is opened; takes about a second. */
  quickCheckBytes: 256 * 1024 * 1024,
  /** Pages of 4 KiB in the log after which a commit does the checkpoint itself, since nobody was idle for so long. */
  databaseLogPages: 16_384,
  /** Commits after which an idle loop lets the store tidy up. */
  commitsPerCheckpoint: 1000,
  /** Milliseconds that a start waits for the lock of a data folder: a process that is just ending may have it still. */
  lockWaitMillis: 100,

  // --- the doctor
  /** Milliseconds that one check may take: a library of 33 MB comes from a slow disk, a dead mount never answers. */
  doctorMillis: 20_000,
  /** Milliseconds between two clocks from which on times in lists and logs mislead. */
  clockDifferenceMillis: 10_000,
  /** Bytes of memory below which hardly a stage fits. */
  leastFreeMemoryBytes: 1024n ** 3n,
  /** Bytes of disk below which a database of many runs and its log may not fit; ten times that is little. */
  leastFreeDiskBytes: 256n * 1024n ** 2n,
  /** Open files of a daemon with the most edges and agents of a usual pool. */
  leastOpenFiles: 8192,

  // --- faults
  /** Characters of a stranger's text that a sentence quotes. */
  quotedCharacters: 80,
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

  // --- the stage worker
  /** Bytes that the fixture engine reads at once: it holds this much of a model, whatever the model's size. */
  loadChunkBytes: 1024 * 1024,
  /** Bytes between two progress reports at least: a small model reports only its beginning and its end. */
  progressStepMinBytes: 8 * 1024 * 1024,
  /** Bytes between two progress reports at most: a disk of 2 MB/s still reports twice in a load deadline of 60 s. */
  progressStepMaxBytes: 64 * 1024 * 1024,
  /** Steps of one engine that wait for their turn; further ones are refused with RESOURCE_EXHAUSTED. */
  queuedSteps: 1024,
  /** Finished steps of one session whose results are kept for a repetition; a prefill's can be 16 MiB. */
  stepsRemembered: 4,
  /** Milliseconds that a worker gives its engine to let go before it kills itself; an orphan is worse (I18). */
  workerEndMillis: 5000,

  // --- sampling
  /** Thousandths of the whole, in shares such as top_p. */
  wholeMillis: 1000,
  /** Thousandths that a presence or frequency penalty may take from a logit, or give to it: what chat clients know. */
  penaltyMillis: 2000,
  /** Thousandths of a repeat penalty: from a tenth, which makes a model stammer, to ten, which leaves it no word twice. */
  leastRepeatPenaltyMillis: 100,
  mostRepeatPenaltyMillis: 10_000,
  /** Tokens that a repeat penalty looks back on when nobody says, as in llama.cpp. */
  defaultRepeatLastTokens: 64,
  /** Tokens that it may look back on; as many of the prompt's travel to the last stage with each answer. */
  repeatLastTokens: 2048,
  /** Bytes of an object that says how an answer is sampled: its settings and those tokens. */
  samplingBytes: 64 + 4 * 2048,

  // --- edges
  /** Milliseconds between two attempts of an edge's producer to reach its consumer, on this machine. */
  edgeRetryMillis: 100,
  /** Milliseconds that a connection to an edge's consumer may take to say whose it is. */
  edgePreambleMillis: 10_000,
  /** Connections to one edge's consumer that have not said yet whose they are. */
  edgeConnections: 8,
  /** Bytes of an object that is copied to one block before it is written: above, the copy costs more than it saves. */
  joinedRecordBytes: 64 * 1024,
  /** Decode steps that may go before a waiting piece of a prompt: then one piece runs, or it would starve. */
  decodesBeforePrefill: 16,

  // --- the edge gateway
  /** Edges that a gateway knows in one direction: one of each held stage, and as many for the token endpoints beside it. */
  gatewayEdges: 1024,
  /** Connections of one listener; an edge has one, and further ones only while it is being replaced. */
  gatewayConnections: 2048,
  /** Connections of one listener that have not said yet whose they are; then the oldest of the address that has most goes. */
  gatewayStrangers: 64,
  /** Bytes that one direction of a connection may hold before its sender waits: a few objects of a decode step. */
  gatewayBufferBytes: 128 * 1024,
  /** Milliseconds that a gateway tries to reach whoever comes next, like the deadline of edges; then the producer asks anew. */
  gatewayDialMillis: 30_000,
  /** Milliseconds of one attempt: a machine that is off answers never, and the kernel would ask it for two minutes. */
  gatewayConnectMillis: 5000,
  /** Milliseconds of one TLS handshake: two round trips and a signature on each side, of machines that are busy. */
  gatewayHandshakeMillis: 5000,
  /** Handshakes under way at one listener; then the oldest of the address that has most goes. Each costs a millisecond of processor and some memory. */
  gatewayHandshakes: 32,
  /** Milliseconds for which who answers must be the wrong one until that is a fault: a machine may just be replaced. */
  gatewayDistrustMillis: 5000,
  /** Milliseconds before the second attempt, and between two attempts at most: it doubles. */
  gatewayBackoffMinMillis: 50,
  gatewayBackoffMaxMillis: 2000,
  /** Milliseconds that the connections of an ended stage get to hand over what they hold. */
  gatewayLingerMillis: 2000,
  /** Milliseconds of silence after which the kernel asks whether the other machine is alive; ten seconds more end it. */
  gatewayKeepaliveMillis: 20_000,

  // --- the token endpoint
  /** Bytes of one line to a token endpoint: a prompt of `promptBytes`, each of which JSON may write as six. */
  tokenEndpointLineBytes: 2 * 1024 * 1024,
  /** Messages of one conversation that are taken at once. */
  chatMessages: 1024,
  /** Bytes that a chat template may make of messages: as many as they have, and about as many around them. */
  renderedPromptBytes: 512 * 1024,
  /** Milliseconds that a chat template may take; honest ones need a few, and nobody else is answered meanwhile. */
  chatTemplateMillis: 1000,
  /** Prompts that wait for a free session; each may have a million tokens, and somebody holds a call open for it. */
  waitingPrompts: 256,
  /** Tokens that an answer may be ahead of its reader: seconds of reading, and no burden to keep. */
  unreadTokens: 256,
  /** Milliseconds that a reader may leave a message lie; what it holds is wanted by others. */
  slowReaderMillis: 30_000,
  /** Tokens that a reader has taken before it is said: a fraction of `unreadTokens`, and seldom enough to cost nothing. */
  tokensPerAcknowledgement: 64,
  /** Texts that end one answer: four times what chat clients may ask for. Each is looked for at every character. */
  stopTexts: 16,
  /** Bytes of one of them: a marker, not a paragraph. */
  stopTextBytes: 256,
  /** Bytes of text that are kept with a run that answers its own prompt. */
  answerTextBytes: 1024 * 1024,
  /** Tokens, and characters, of one message that repeats an answer. */
  replayedTokens: 4096,
  /** Milliseconds that a launcher waits for the cause of its answer's end: the machine's second, and a commit. */
  causeMillis: 3_000,

  // --- slices of models
  /** Bytes of the slices that a node keeps, when it is not told: the stages of a large model and some smaller ones. */
  sliceCacheBytes: 256 * 1024 ** 3,
  /** Headers of models that a node keeps beside its slices; more models than a node has room for. */
  knownHeaders: 64,
  /** Bytes of one of them, without its vocabulary: ten times what the tensors of the largest models take. */
  knownHeaderBytes: 4 * 1024 * 1024,
  /** Milliseconds without a change after which the times of a file tell of any other: FAT counts in two seconds. */
  headerSettledMillis: 2000,

  // --- the node agent
  /** Heartbeats without an answer after which an agent opens a new session: 30 s at 5 s each, like keepalive. */
  heartbeatsUnanswered: 6,
  /** Answers about stages that an agent does not hold and that wait for ReportAck; further ones are sent and forgotten. */
  strayReports: 512,
  /** Faults of an inventory that bring their log lines: a Hello must fit in one message, and reports bring the rest. */
  inventoryLogTails: 32,
  /** Milliseconds that an agent waits for Welcome; a connection to a silent address would take minutes to fail. */
  welcomeMillis: 10_000,
  /** Milliseconds of the shortest and the longest wait before a new session, as the ceiling of a random draw. */
  sessionBackoffMinMillis: 250,
  sessionBackoffMaxMillis: 10_000,
  /** Milliseconds that a GoAway may keep an agent away at most. */
  goAwayMillis: 10 * 60_000,
  /** Milliseconds that an ending session gets to hand over its last messages. */
  lastWordsMillis: 2000,
  /** Milliseconds that looking for a model may take, within the deadline to acknowledge; a dead mount answers never. */
  findModelMillis: 5000,
  /** Milliseconds of one question to a GPU's driver; a broken one answers never. */
  gpuQueryMillis: 3000,
  /** Milliseconds that the pipes of a worker that has exited may stay open; a grandchild may hold them for ever. */
  workerPipesMillis: 1000,
  /** Milliseconds between two looks at whether a process that a worker left behind is gone; the first kill mostly does it. */
  strayLookMillis: 20,
  /** Milliseconds that a start waits for the end of what an earlier agent left: a driver may take seconds to free a GPU. */
  leftWorkerMillis: 10_000,
  /** Points of 1000 that the kernel adds to a worker's share of memory when it looks for a process to end for memory. */
  workerOomScore: 200,
  /** Bytes of a command line in the log. */
  commandBytes: 256,
  /** Workers of our own that an agent starts ahead of need when nobody says: one for a stage, one for the next. */
  defaultWarmWorkers: 2,
  /** Milliseconds that a stage may be at one micro-batch when nobody says; a GPU needs one, a processor seconds. */
  stepMillis: 60_000,
  /** Milliseconds from taking a worker to starting its successor: the stage that took it needs the processor first. */
  warmWorkerDelayMillis: 1000,
  /** Bytes of a file in a worker's command that count for its build; above, it is the interpreter and its name does. */
  workerFileBytes: 16 * 1024 * 1024,
  /** Milliseconds between two looks at a clock that counts suspend, while plain timers stood still with the machine. */
  clockLookMillis: 1000,
  /** Milliseconds that the engines of a worker may take to say what they are: a library of 33 MB comes from a slow disk. */
  engineBuildsMillis: 10_000,
  /** Milliseconds of one question to the system about its processor. */
  processorQueryMillis: 2000,
  /** Bytes that a program may answer to a question about the machine; what goes on for longer is no answer. */
  machineAnswerBytes: 256 * 1024,
  /** Bytes of a path in a fault's sentence: what to do next must still fit. */
  faultPathBytes: 320,
  /** Bytes of a digest that a worker reports: SHA-256 in hex. */
  digestBytes: 64,
  /** Log files of stages that an agent keeps, the oldest go first; each has at most two times `workerLogBytes`. */
  stageLogs: 256,

  // --- GGUF files
  /** Bytes of a header, vocabulary included; the largest known are about 30 MB. */
  ggufHeaderBytes: 256 * 1024 * 1024,
  /** Metadata keys of one file. */
  ggufMetadataKeys: 65_536,
  /** Elements of one metadata array. */
  ggufArrayElements: 16 * 1024 * 1024,
  /** Bytes of a metadata key; the format's own bound. */
  ggufKeyBytes: 65_535,
  /** Bytes of a metadata string that is kept; chat templates have some 20 KB, whole tokenizers in JSON many MB. */
  ggufKeptStringBytes: 1024 * 1024,
  /** Strings of a metadata array that is kept unasked: tags and languages, not vocabularies. */
  ggufKeptStrings: 1024,
  /** Bytes of a model's name, which is made for people. */
  modelIdBytes: 256,
  /** Tensors of one model; DeepSeek-R1 has 1025. */
  ggufTensors: 1_000_000,
  /** Layers of one model. */
  ggufLayers: 65_536,
  /** Shards of one model. */
  ggufShards: 10_000,
} as const;
