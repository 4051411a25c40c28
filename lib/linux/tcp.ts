/** What the runtime does not offer for its own TCP connections. Loaded where it is needed: opening libc takes a while. */

const { symbols } = Deno.dlopen("libc.so.6", {
  getsockname: { parameters: ["i32", "buffer", "buffer"], result: "i32" },
  getpeername: { parameters: ["i32", "buffer", "buffer"], result: "i32" },
  shutdown: { parameters: ["i32", "i32"], result: "i32" },
  setsockopt: { parameters: ["i32", "i32", "i32", "buffer", "u32"], result: "i32" },
});

const AF_INET = 2;
const AF_INET6 = 10;
const SHUT_RDWR = 2;
const IPPROTO_TCP = 6;
const TCP_QUICKACK = 12;
/** `sizeof(struct sockaddr_in6)`. */
const MAX_ADDRESS_BYTES = 28;

/**
 * Ends a TCP connection of this process in both directions, whoever holds its descriptor and whatever waits to be
 * written. The descriptor itself stays with its owner.
 *
 * @returns Whether there is such a connection.
 */
export function shutDown(local: Deno.NetAddr, remote: Deno.NetAddr): boolean {
  const descriptor = find(remote, local);
  return descriptor !== undefined && symbols.shutdown(descriptor, SHUT_RDWR) === 0;
}

/**
 * Tells the peer of a TCP connection at once that everything has arrived, instead of with the next bytes to it or 40 ms
 * later. Nagle's algorithm keeps a peer from sending a second small message before it knows of the first.
 *
 * @param remote The peer; one process has one connection with it, unless it serves several ports.
 * @returns Whether there is such a connection.
 */
export function acknowledgeNow(remote: Deno.NetAddr): boolean {
  const descriptor = find(remote);
  const on = new Uint8Array(new Int32Array([1]).buffer);
  return descriptor !== undefined &&
    symbols.setsockopt(descriptor, IPPROTO_TCP, TCP_QUICKACK, on, on.length) === 0;
}

function find(remote: Deno.NetAddr, local?: Deno.NetAddr): number | undefined {
  for (const { name } of Deno.readDirSync("/proc/self/fd")) {
    const descriptor = Number(name);
    if (local !== undefined && !isAt(symbols.getsockname, descriptor, local)) continue;
    if (isAt(symbols.getpeername, descriptor, remote)) return descriptor;
  }
  return undefined;
}

/** False as well for what is no socket, or not connected. */
function isAt(ask: typeof symbols.getsockname, descriptor: number, { hostname, port }: Deno.NetAddr): boolean {
  const address = new Uint8Array(MAX_ADDRESS_BYTES);
  const length = new Uint32Array([address.length]);
  if (ask(descriptor, address, length) !== 0) return false;
  const view = new DataView(address.buffer);
  if (view.getUint16(2) !== port) return false;
  // The family is in the order of the machine, which is little-endian.
  const family = view.getUint16(0, true);
  if (family === AF_INET) return address.subarray(4, 8).join(".") === hostname;
  if (family !== AF_INET6) return false;
  const groups = Array.from({ length: 8 }, (_, at) => view.getUint16(8 + 2 * at).toString(16));
  return canonical(groups.join(":")) === canonical(hostname.replace(/%.*$/, ""));
}

/** There are many ways to write one IPv6 address. */
function canonical(address: string): string | undefined {
  return URL.parse(`http://[${address}]/`)?.hostname;
}
