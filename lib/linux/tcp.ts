/** What the runtime does not offer for its own TCP connections. Loaded where it is needed: opening libc takes a while. */

const { symbols } = Deno.dlopen("libc.so.6", {
  getsockname: { parameters: ["i32", "buffer", "buffer"], result: "i32" },
  getpeername: { parameters: ["i32", "buffer", "buffer"], result: "i32" },
  shutdown: { parameters: ["i32", "i32"], result: "i32" },
});

const AF_INET = 2;
const AF_INET6 = 10;
const SHUT_RDWR = 2;
/** `sizeof(struct sockaddr_in6)`. */
const MAX_ADDRESS_BYTES = 28;

/**
 * Ends a TCP connection of this process in both directions, whoever holds its descriptor and whatever waits to be
 * written. The descriptor itself stays with its owner.
 *
 * @returns Whether there is such a connection.
 */
export function shutDown(local: Deno.NetAddr, remote: Deno.NetAddr): boolean {
  for (const { name } of Deno.readDirSync("/proc/self/fd")) {
    const descriptor = Number(name);
    if (isAt(symbols.getsockname, descriptor, local) && isAt(symbols.getpeername, descriptor, remote)) {
      return symbols.shutdown(descriptor, SHUT_RDWR) === 0;
    }
  }
  return false;
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
