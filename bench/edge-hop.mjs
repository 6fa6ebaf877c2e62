// What a hop between two processes costs.
//
//   npm run bench:edges -- [bytes]
//   npm run bench:edges -- gateways [bytes]
//
// "gateways" measures what mutual TLS costs: two gateways, each in its own process, between a producer and a consumer, over TCP
// on loopback, plain and secured in turns: the time of one object, and the rate of objects that follow each other.
import { parseArgs } from 'node:util';
import { measureGateways } from './gateway-hop.mjs';
import { measureHops } from './hops.mjs';

const { values, positionals } = parseArgs({ options: { rounds: { type: 'string' } }, allowPositionals: true });
const bytes = Number(positionals.at(-1)) || undefined;
const rounds = Number(values.rounds) || undefined;
if (positionals[0] === 'gateways') await measureGateways({ bytes, rounds });
else await measureHops({ bytes, rounds });
process.exit();
