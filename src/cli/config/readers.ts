import { statSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname, resolve } from 'node:path';
import { limits } from '../../core/limits.js';
import { isNodeName, nodeNameAdvice } from '../../core/node-name.js';
import { parseBytes } from '../../core/parse-bytes.js';
import { U32_MAX, U64_MAX } from '../../core/uint.js';
import { parseListenAddress } from '../../grpc/listen-address.js';
import { formatDuration, parseDuration } from '../format/duration.js';
import type { Reader } from './setting.js';

export const readText: Reader<string> = (text) =>
  text === '' ? refused('is empty; give a text') : { kind: 'read', value: text };

/** A host name or an IP address, without a port. */
export const readHost: Reader<string> = (text) =>
  isIP(text) > 0 || /^(?=.{1,253}$)[\w-]{1,63}(\.[\w-]{1,63})*$/.test(text)
    ? { kind: 'read', value: text }
    : refused('is no host name or address; write one such as server.lan or 10.0.0.5, without a port');

/** A name of a node or of a client. */
export const readName: Reader<string> = (text) =>
  isNodeName(text) ? { kind: 'read', value: text } : refused(`is no name; ${nodeNameAdvice}`);

/** `host:port` or `[v6]:port`. */
export const readAddress: Reader<string> = (text) =>
  parseListenAddress(text)
    ? { kind: 'read', value: text }
    : refused('is no address; write host:port, such as 127.0.0.1:7070');

/** `host:port`, or `off`. */
export const readAddressOrOff: Reader<string> = (text) =>
  text === 'off' ? { kind: 'read', value: text } : readAddress(text);

/** What a client dials: `host:port` or `unix:/path`. */
export const readTarget: Reader<string> = (text) =>
  /^unix:.+/.test(text) || parseListenAddress(text)
    ? { kind: 'read', value: text }
    : refused('is no address; write host:port, such as 127.0.0.1:7070, or unix:/path');

/** A program and its arguments, separated by blanks; double or single quotes hold words together. */
export const readWords: Reader<readonly string[]> = (text) => {
  const words = [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  );
  return words[0] ? { kind: 'read', value: words } : refused('names no program');
};

/** A folder that exists, as an absolute path. */
export const readExistingFolder: Reader<string> = (text) =>
  statSync(text, { throwIfNoEntry: false })?.isDirectory()
    ? { kind: 'read', value: resolve(text) }
    : refused('is no folder on this machine; create it, or name another');

/** A folder that exists and holds models: others may name every file below it. */
export const readModelsFolder: Reader<string> = (text) =>
  dirname(resolve(text)) === resolve(text)
    ? refused('is the whole machine, and others may name every file below it; name the folder that holds your models')
    : readExistingFolder(text);

/** A folder that will be made when it is missing, as an absolute path. */
export const readFolder: Reader<string> = (text) =>
  text === '' ? refused('is empty; name a folder') : { kind: 'read', value: resolve(text) };

/** A file that may or may not exist, as an absolute path: whoever opens it has a working folder of its own. */
export const readPath: Reader<string> = (text) =>
  text === '' ? refused('is empty; name a file') : { kind: 'read', value: resolve(text) };

/** Milliseconds. */
export function readDuration(least: number, most: number = limits.deadlineMillis): Reader<number> {
  return (text) => {
    const millis = parseDuration(text);
    if (millis === undefined) return refused('is no duration; write one such as 300ms, 5s or 2m');
    if (millis < least) return refused('is too short; write at least 1ms');
    return millis > most
      ? refused(`is too long; ${formatDuration(most)} is the most`)
      : { kind: 'read', value: millis };
  };
}

/** Bytes, with their unit. */
export const readBytes: Reader<bigint> = (text) => {
  const bytes = parseBytes(text);
  return bytes ? { kind: 'read', value: bytes } : refused('is no size; write one such as 16GiB or 24GB');
};

/** A number from `least` to `most`. */
export function readCount(least: number, most = U32_MAX): Reader<number> {
  return (text) => {
    const value = Number(text);
    if (!/^\d{1,10}$/.test(text) || value > U32_MAX) return refused('is no whole number');
    if (value < least) return refused(`is too small; write at least ${least}`);
    return value > most ? refused(`is too large; write at most ${most}`) : { kind: 'read', value };
  };
}

/** A run or node id. */
export const readId: Reader<bigint> = (text) => {
  if (!/^\d{1,20}$/.test(text)) return refused('is no id; write a number, as the lists show it');
  const value = BigInt(text);
  return value > U64_MAX ? refused('is above the largest id') : { kind: 'read', value };
};

/** What a sampler begins with. */
export const readSeed: Reader<bigint> = (text) => {
  if (!/^\d{1,20}$/.test(text)) return refused('is no whole number');
  const value = BigInt(text);
  return value > U64_MAX ? refused(`is too large; write at most ${U64_MAX}`) : { kind: 'read', value };
};

/** A decimal number of at most three digits after the point, as thousandths from `least` to `most`. */
export function readThousandths(least: number, most = U32_MAX): Reader<number> {
  return (text) => {
    const [, sign, whole, fraction = ''] = /^(-?)(\d{1,7})(?:\.(\d{1,3}))?$/.exec(text) ?? [];
    if (whole === undefined || (sign !== '' && least >= 0)) {
      return refused('is no number; write one such as 0.7, with at most three digits after the point');
    }
    const size = Number(whole + fraction.padEnd(3, '0'));
    const value = sign === '' || size === 0 ? size : -size;
    if (value < least) return refused(`is too small; write at least ${least / 1000}`);
    return value > most ? refused(`is too large; write at most ${Math.floor(most / 1000)}`) : { kind: 'read', value };
  };
}

/** The same of either sign, `most` in size. */
export function readSignedThousandths(most: number): Reader<number> {
  return readThousandths(-most, most);
}

/** A share of the whole, 0 to 1. */
export const readShare: Reader<number> = readThousandths(0, limits.wholeMillis);

/** A share from 0 to 100 percent with at most one digit after the point, as thousandths. */
export const readPercent: Reader<number> = (text) => {
  const [, whole, tenth = '0'] = /^(\d{1,3})(?:\.(\d))?%?$/.exec(text) ?? [];
  if (whole === undefined) return refused('is no percentage; write one such as 20 or 12.5');
  const value = Number(whole + tenth);
  return value > 1000 ? refused('is too large; write at most 100') : { kind: 'read', value };
};

/** Seconds above 0 with at most six digits after the point, as microseconds. */
export const readSeconds: Reader<bigint> = (text) => {
  const [, whole, fraction = ''] = /^(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  if (whole === undefined) return refused('are no seconds; write a number such as 0.25');
  const value = BigInt(whole + fraction.padEnd(6, '0'));
  return value > 0n ? { kind: 'read', value } : refused('is too small; write at least 0.000001');
};

export function readOneOf<T extends string>(...choices: readonly T[]): Reader<T> {
  return (text) => {
    const value = choices.find((choice) => choice === text);
    return value ? { kind: 'read', value } : refused(`is none of ${choices.join(', ')}`);
  };
}

/** `key=value`; the value may be empty. */
export const readLabel: Reader<readonly [key: string, value: string]> = (text) => {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  return key !== undefined && value !== undefined
    ? { kind: 'read', value: [key, value] }
    : refused('is no label; write key=value');
};

function refused(problem: string): { readonly kind: 'refused'; readonly problem: string } {
  return { kind: 'refused', problem };
}
