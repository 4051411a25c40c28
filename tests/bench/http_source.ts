/**
 * A web server that costs as little as possible: whatever is asked for, it writes the same prepared buffer until as many
 * bytes are there as its argument says. Prints its port, and ends with its stdin.
 */
const bytes = Number(Deno.args[0]);
const BUFFER = new Uint8Array(1_048_576).fill(97);

async function serve(connection: Deno.TcpConn): Promise<void> {
  try {
    await readHead(connection);
    const head = `HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: ${bytes}\r\nconnection: close\r\n\r\n`;
    await connection.write(new TextEncoder().encode(head));
    for (let rest = bytes; rest > 0;) rest -= await connection.write(BUFFER.subarray(0, Math.min(rest, BUFFER.length)));
  } finally {
    connection.close();
  }
}

/** A GET has nothing after its head. */
async function readHead(connection: Deno.TcpConn): Promise<void> {
  const buffer = new Uint8Array(16_384);
  for (let text = ""; !text.includes("\r\n\r\n");) {
    const count = await connection.read(buffer);
    if (count === null) throw new Error("the request ended early");
    text += new TextDecoder().decode(buffer.subarray(0, count));
  }
}

async function accept(listener: Deno.TcpListener): Promise<void> {
  for await (const connection of listener) serve(connection).catch((error) => console.error(String(error)));
}

const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
accept(listener);
console.log(listener.addr.port);
for await (const _ of Deno.stdin.readable);
Deno.exit(0);
