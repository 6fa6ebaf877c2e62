// A client in its own process, to be killed or frozen: opens one agent session, says so on stdout, and reads nothing
// but what keeps it open. Usage: node silent-client.mjs <address>
import { Client, credentials } from '@grpc/grpc-js';

const client = new Client(process.argv[2], credentials.createInsecure());
const same = (bytes) => bytes;
const call = client.makeBidiStreamRequest('/stageplane.v1.NodeAgentService/Subscribe', same, same);
call.on('error', () => {});
call.on('data', () => process.stdout.write('open\n'));
call.write(Buffer.alloc(0));
