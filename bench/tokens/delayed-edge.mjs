import { connect, createServer } from 'node:net';

/** Passes an edge on from one Unix socket to another; what its producer says arrives some milliseconds later. */
export function delayedEdge(from, to, millis) {
  const server = createServer((producer) => {
    const consumer = connect(to);
    for (const socket of [producer, consumer]) socket.on('error', () => {});
    // Timers of the same length go off in the order in which they were set.
    producer.on('data', (chunk) => setTimeout(() => consumer.write(chunk), millis));
    producer.on('close', () => setTimeout(() => consumer.destroy(), millis));
    consumer.on('close', () => producer.destroy());
    consumer.pipe(producer);
  });
  return new Promise((resolve) => server.listen(from, () => resolve(server)));
}
