/**
 * Pairs of sockets between two processes of ours, over which bytes and open files go. As elsewhere here a result is a
 * number, or the negated error number.
 */

import { addressOf, type Bytes, bytesOf, systemCall } from "./system_call.ts";

const NUMBERS = Deno.build.arch === "aarch64"
  ? { getsockopt: 209, recvmsg: 212, sendmsg: 211, shutdown: 210, socketpair: 199 }
  : { getsockopt: 55, recvmsg: 47, sendmsg: 46, shutdown: 48, socketpair: 53 };

const AF_UNIX = 1;
const SOCK_STREAM = 1;
const SOCK_CLOEXEC = 0o2000000;

/** Two sockets that are connected with each other, closed on exec; or a negated error number. */
export function socketPair(): readonly [number, number] | number {
  const ends = new Int32Array(2);
  const result = systemCall(NUMBERS.socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, bytesOf(ends));
  return result < 0 ? result : [ends[0]!, ends[1]!];
}

const SOL_SOCKET = 1;
const SO_TYPE = 3;
const SO_DOMAIN = 39;

/** Whether a descriptor is a socket as {@linkcode socketPair} makes them. */
export function isPairedSocket(fd: number): boolean {
  return option(fd, SO_DOMAIN) === AF_UNIX && option(fd, SO_TYPE) === SOCK_STREAM;
}

function option(fd: number, name: number): number {
  const value = new Int32Array(1);
  const length = new Int32Array([value.byteLength]);
  const result = systemCall(NUMBERS.getsockopt, fd, SOL_SOCKET, name, bytesOf(value), bytesOf(length));
  return result < 0 ? result : value[0]!;
}

const SHUT_WR = 1;

/** Nothing more is sent: the other side receives what was, and then the end. */
export function endSending(fd: number): number {
  return systemCall(NUMBERS.shutdown, fd, SHUT_WR);
}

const MSG_DONTWAIT = 0x40;
const MSG_PEEK = 0x02;
const MSG_NOSIGNAL = 0x4000;
const MSG_CMSG_CLOEXEC = 0x40000000;
const SCM_RIGHTS = 1;

/**
 * `struct cmsghdr` (length, level, type) with one descriptor, and what the kernel rounds it up to. Where that much is
 * offered for what comes, two descriptors fit in.
 */
const CONTROL_LENGTH = 20;
const CONTROL_BYTES = 24;
const HEADER_BYTES = 56;

/** What a call is given, all of it in memory that stays where it is. */
const header = new DataView(new ArrayBuffer(HEADER_BYTES));
const vector = new BigUint64Array(2);
const control = new DataView(new ArrayBuffer(CONTROL_BYTES));
const headerBytes = bytesOf(header), vectorBytes = bytesOf(vector), controlBytes = bytesOf(control);

function prepare(buffer: Bytes, controlLength: number): void {
  vector[0] = addressOf(buffer);
  vector[1] = BigInt(buffer.length);
  headerBytes.fill(0);
  header.setBigUint64(16, addressOf(vectorBytes), true);
  header.setBigUint64(24, 1n, true);
  if (controlLength === 0) return;
  header.setBigUint64(32, addressOf(controlBytes), true);
  header.setBigUint64(40, BigInt(controlLength), true);
}

export interface TransferOptions {
  /** -EAGAIN instead of waiting. */
  readonly now: boolean;
}

/**
 * Sends bytes, and with the first of them a descriptor; perhaps fewer bytes than there are.
 *
 * @param fd What the other side is to have open as well; null: nothing.
 */
export function send(socket: number, buffer: Bytes, fd: number | null, { now }: TransferOptions): number {
  prepare(buffer, fd === null ? 0 : CONTROL_BYTES);
  if (fd !== null) {
    control.setBigUint64(0, BigInt(CONTROL_LENGTH), true);
    control.setInt32(8, SOL_SOCKET, true);
    control.setInt32(12, SCM_RIGHTS, true);
    control.setInt32(16, fd, true);
  }
  return systemCall(NUMBERS.sendmsg, socket, headerBytes, MSG_NOSIGNAL | (now ? MSG_DONTWAIT : 0), buffer);
}

export interface Received {
  /** How many bytes; 0: the other side has ended. */
  readonly count: number;
  /** A descriptor that came with them, closed on exec and the caller's to close. If there were several, the first. */
  readonly fd: number | null;
}

/** Receives at most `buffer.length` bytes; what lies behind a descriptor comes with the next call. */
export function receive(socket: number, buffer: Bytes, { now }: TransferOptions): Received | number {
  prepare(buffer, CONTROL_LENGTH);
  const count = systemCall(NUMBERS.recvmsg, socket, headerBytes, MSG_CMSG_CLOEXEC | (now ? MSG_DONTWAIT : 0), buffer);
  if (count < 0) return count;
  // Said or not said that there was more: what stands here is open.
  const isWhole = header.getBigUint64(40, true) >= BigInt(CONTROL_LENGTH);
  const isRights = isWhole && control.getInt32(8, true) === SOL_SOCKET && control.getInt32(12, true) === SCM_RIGHTS;
  return { count, fd: isRights ? control.getInt32(16, true) : null };
}

const peeked = new Uint8Array(new ArrayBuffer(1));

/** What there is to receive, which stays: 1: something; 0: the other side has ended; -EAGAIN: nothing yet. */
export function peek(socket: number): number {
  prepare(peeked, 0);
  return systemCall(NUMBERS.recvmsg, socket, headerBytes, MSG_PEEK | MSG_DONTWAIT, peeked);
}
