import type { Bindings } from "./bindings.ts";
import type { Guard } from "./guard.ts";
import { StdioClient } from "./stdio_client.ts";
import type { Party } from "./party.ts";
import type { Generated, SendLine } from "./lines.ts";
import { WebSocketClient } from "./websocket_client.ts";
import { OPCODE } from "./websocket_frames.ts";

/** Sends what a line of a recording describes. @throws {Unsafe} Instead, if that could do harm. */
export async function sendLine(
  party: Party<WebSocketClient | StdioClient>,
  line: SendLine,
  bindings: Bindings,
  guard: Guard,
): Promise<void> {
  const { client } = party;
  if (line.generated !== undefined) return await sendGenerated(client, line.generated);
  const text = line.hex !== undefined ? null : await bindings.fill(line.raw ?? JSON.stringify(line.msg ?? null));
  await guard.checkMessage(text ?? new TextDecoder().decode(Uint8Array.fromHex(line.hex!)));
  if (text !== null) party.note(text);
  if (client instanceof WebSocketClient && line.frame !== undefined) return await sendFrame(client, line, text);
  if (text === null || line.frame !== undefined) throw new Error(`cannot send ${JSON.stringify(line)}`);
  if (line.newline !== false) return await client.send(text);
  if (!(client instanceof StdioClient)) throw new Error("only stdio has lines");
  await client.bytes(new TextEncoder().encode(text));
  await client.drop();
}

async function sendFrame(client: WebSocketClient, line: SendLine, text: string | null): Promise<void> {
  const payload = text === null ? Uint8Array.fromHex(line.hex!) : new TextEncoder().encode(text);
  if (line.frame === "text") await client.frame(OPCODE.text, payload);
  else if (line.frame === "binary") await client.frame(OPCODE.binary, payload);
  else if (line.frame === "ping") await client.frame(OPCODE.ping, new TextEncoder().encode(line.payload));
  else if (line.frame === "close") {
    await client.frame(OPCODE.close, Uint8Array.of(line.code! >> 8, line.code! & 0xff));
  } else if (line.frame === "text fin=0 + continuation fin=1") {
    const middle = payload.length >> 1;
    await client.frame(OPCODE.text, payload.subarray(0, middle), { fin: false });
    await client.frame(OPCODE.continuation, payload.subarray(middle));
  } else throw new Error(`unknown frame ${JSON.stringify(line.frame)}`);
}

async function sendGenerated(client: WebSocketClient | StdioClient, generated: Generated): Promise<void> {
  const { prefix, suffix, fill, totalBytes, fragmentBytes, repeat, times } = generated;
  const middle = repeat !== undefined
    ? repeat[0].repeat(times!) + repeat[1].repeat(times!)
    : fill!.repeat(totalBytes! - prefix.length - suffix.length);
  if (fragmentBytes === undefined) return await client.send(prefix + middle + suffix);
  if (!(client instanceof WebSocketClient)) throw new Error("only WebSocket has fragments");
  const bytes = new TextEncoder().encode(prefix + middle + suffix);
  for (let at = 0; at < bytes.length; at += fragmentBytes) {
    const opcode = at === 0 ? OPCODE.text : OPCODE.continuation;
    const fin = at + fragmentBytes >= bytes.length;
    await client.frame(opcode, bytes.subarray(at, at + fragmentBytes), { fin });
  }
}
