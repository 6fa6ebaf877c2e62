import { limits } from '../../core/limits.js';
import { joinRoles, keyRoles } from '../../core/role.js';
import { defineCommand } from '../command.js';
import { clientSettings, dataSetting, jsonSetting } from '../config/common-settings.js';
import { readAddress, readDuration, readHost, readName, readOneOf, readPath, readText } from '../config/readers.js';
import { list, operand, optional, required, toggle, type Values } from '../config/setting.js';
import type { Violation } from '../failure.js';
import { formatDuration } from '../format/duration.js';

const initSettings = {
  ...dataSetting,
  name: list(readHost, {
    placeholder: '<host>',
    description: 'name or address by which other machines reach this one; may be repeated',
  }),
  addName: list(readHost, {
    placeholder: '<host>',
    description: 'one more of them for an orchestrator that was initialised already; nobody has to join anew',
  }),
  caCert: optional(readPath, {
    placeholder: '<file>',
    description: 'a CA of your own in PEM, made for this alone: self-signed, ECDSA or RSA',
  }),
  caKey: optional(readPath, { placeholder: '<file>', description: 'its key in PEM, not encrypted' }),
  force: toggle('make a new CA although there is one: all nodes and clients have to join anew'),
  ...jsonSetting,
};
export type InitValues = Values<typeof initSettings>;

const tokenCreateSettings = {
  ...dataSetting,
  node: optional(readName, { placeholder: '<name>', description: 'the one name that it admits; default: any' }),
  ttl: required(readDuration(1, limits.longestJoinTokenMillis), {
    placeholder: '<duration>',
    description: 'how long it may be redeemed',
    fallback: formatDuration(limits.joinTokenMillis),
  }),
  role: required(readOneOf(...joinRoles), {
    placeholder: '<role>',
    description: 'what it makes of whoever redeems it: agent, launcher or viewer',
    fallback: 'agent',
  }),
  ...jsonSetting,
};
export type TokenCreateValues = Values<typeof tokenCreateSettings>;

const listSettings = { ...dataSetting, ...jsonSetting };
export type AccessListValues = Values<typeof listSettings>;

const revokeOperands = {
  serial: operand(readText, { placeholder: '<serial>', description: 'as `cert list` shows it' }),
};
export type RevokeValues = Values<typeof listSettings & typeof revokeOperands>;

const keyCreateSettings = {
  ...dataSetting,
  name: optional(readName, { placeholder: '<name>', description: 'what it is for, such as a program or a person' }),
  role: required(readOneOf(...keyRoles), {
    placeholder: '<role>',
    description: 'what it may do: viewer, launcher or admin',
    fallback: 'launcher',
  }),
  ttl: optional(readDuration(1, limits.longestKeyMillis), {
    placeholder: '<duration>',
    description: 'how long it is good; default: until it is revoked',
  }),
  ...jsonSetting,
};
export type KeyCreateValues = Values<typeof keyCreateSettings>;

const keyRevokeOperands = {
  id: operand(readText, { placeholder: '<id>', description: 'as `key list` shows it' }),
};
export type KeyRevokeValues = Values<typeof listSettings & typeof keyRevokeOperands>;

const joinSettings = {
  ...clientSettings,
  enroll: optional(readAddress, {
    placeholder: '<host:port>',
    description: 'where the token is redeemed; default: two ports after that of the orchestrator',
  }),
  name: optional(readName, { placeholder: '<name>', description: 'what to be called; default: that of this user' }),
};
const joinOperands = { token: operand(readText, { placeholder: '<token>', description: 'of a launcher or viewer' }) };
export type JoinValues = Values<typeof joinSettings & typeof joinOperands>;

export const accessCommands = [
  defineCommand({
    name: 'init',
    summary: 'give the orchestrator of this machine its certificates; from then on everyone has to show one',
    settings: initSettings,
    operands: {},
    examples: [
      'init --name server.lan --name 10.0.0.5',
      'init --add-name 192.168.1.5',
      'init --ca-cert ca.pem --ca-key ca-key.pem',
    ],
    check: checkInit,
    load: async () => (await import('../actions/init.js')).init,
  }),
  defineCommand({
    name: 'token create',
    summary: 'make a token that lets one machine or person in, once',
    settings: tokenCreateSettings,
    operands: {},
    examples: ['token create --node gpu-a', 'token create --role launcher --ttl 10m'],
    load: async () => (await import('../actions/tokens.js')).tokenCreate,
  }),
  defineCommand({
    name: 'token list',
    summary: 'list the tokens that have not expired',
    settings: listSettings,
    operands: {},
    examples: ['token list'],
    load: async () => (await import('../actions/tokens.js')).tokenList,
  }),
  defineCommand({
    name: 'cert list',
    summary: 'list the certificates that were issued and have not expired',
    settings: listSettings,
    operands: {},
    examples: ['cert list'],
    load: async () => (await import('../actions/certificates.js')).certList,
  }),
  defineCommand({
    name: 'cert revoke',
    summary: 'let the holder of a certificate in no longer, and end its sessions',
    settings: listSettings,
    operands: revokeOperands,
    examples: ['cert revoke 4f0c...'],
    load: async () => (await import('../actions/certificates.js')).certRevoke,
  }),
  defineCommand({
    name: 'key create',
    summary: 'make a key for the HTTP port: the API, the dashboard, and programs made for OpenAI',
    settings: keyCreateSettings,
    operands: {},
    examples: ['key create --name editor', 'key create --name wall --role viewer --ttl 30d'],
    check: ({ name }) =>
      name === undefined ? [{ field: '--name', message: 'say what the key is for, such as --name editor' }] : [],
    load: async () => (await import('../actions/keys.js')).keyCreate,
  }),
  defineCommand({
    name: 'key list',
    summary: 'list the keys that are good',
    settings: listSettings,
    operands: {},
    examples: ['key list'],
    load: async () => (await import('../actions/keys.js')).keyList,
  }),
  defineCommand({
    name: 'key revoke',
    summary: 'let a key in no longer, and end what is being answered to it',
    settings: listSettings,
    operands: keyRevokeOperands,
    examples: ['key revoke 4f0c1b22aa90'],
    load: async () => (await import('../actions/keys.js')).keyRevoke,
  }),
  defineCommand({
    name: 'join',
    summary: 'redeem a token of a launcher or viewer, and keep the certificate for this user',
    settings: joinSettings,
    operands: joinOperands,
    examples: ['join sp1... --orchestrator server:7070'],
    load: async () => (await import('../actions/join.js')).joinAction,
  }),
];

function checkInit({ addName = [], name = [], force, caCert, caKey }: Partial<InitValues>): readonly Violation[] {
  const problems: Violation[] = [];
  if ((caCert === undefined) !== (caKey === undefined)) {
    const message = 'a CA needs both its certificate and its key: name --ca-cert and --ca-key';
    problems.push({ field: '--ca-cert', message });
  }
  if (addName.length > 0 && (name.length > 0 || force || caCert !== undefined)) {
    const message = 'changes nothing but the names of an orchestrator that was initialised already: use it alone';
    problems.push({ field: '--add-name', message });
  }
  return problems;
}
