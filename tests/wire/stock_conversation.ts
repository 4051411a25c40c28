/**
 * A conversation of stock messages alone, as it was before the server had methods of its own. What the server says is
 * kept as text: every byte counts.
 */
import { WireClient } from "../support/wire_client.ts";
import { endWithUs } from "../support/end_with_us.ts";
import { within } from "./deadline.ts";
import { RunningServer } from "./target.ts";
import { Workspace } from "./workspace.ts";

/** One message of the client, and what the server says before the next one is sent. */
export interface Exchange {
  readonly sent: string;
  readonly received: readonly string[];
}

/** Lines of `→ ` and `← `. */
export function readExchanges(text: string): Exchange[] {
  const exchanges: { sent: string; received: string[] }[] = [];
  for (const line of text.trimEnd().split("\n")) {
    const message = line.slice(2);
    if (line.startsWith("→ ")) exchanges.push({ sent: message, received: [] });
    else if (line.startsWith("← ")) exchanges.at(-1)!.received.push(message);
    else throw new Error(`neither sent nor received: ${line}`);
  }
  return exchanges;
}

export function writeExchanges(exchanges: readonly Exchange[]): string {
  return exchanges.flatMap(({ sent, received }) => [`→ ${sent}\n`, ...received.map((text) => `← ${text}\n`)]).join("");
}

/**
 * Has the conversation with a server of its own.
 *
 * @param words The server's command line, to which `--listen` is appended.
 * @param enough Resolves when the server has said all that it says to one message; it may look at what came so far.
 */
export async function converse(
  words: readonly string[],
  carrier: "ws" | "stdio",
  messages: readonly string[],
  enough: (index: number, received: readonly string[], heard: () => Promise<void>) => Promise<void>,
): Promise<Exchange[]> {
  await using workspace = await Workspace.create();
  await using server = carrier === "ws" ? await listening(words, workspace) : onStdio(words, workspace);
  await using client = await server.connect();
  let received: string[] = [];
  let heard = Promise.withResolvers<void>();
  client.tap = (text) => {
    received.push(text);
    heard.resolve();
    return true;
  };
  const next = async (): Promise<void> => {
    await heard.promise;
    heard = Promise.withResolvers();
  };
  const exchanges: Exchange[] = [];
  for (const [index, message] of messages.entries()) {
    received = [];
    client.send(message.replaceAll("<scene>", workspace.scene));
    await within(enough(index, received, next), `end of what is said to ${message}; so far: ${received.join("\n")}`);
    exchanges.push({ sent: message, received: received.map((text) => withoutSurroundings(text, workspace)) });
  }
  return exchanges;
}

interface Served extends AsyncDisposable {
  connect(): Promise<WireClient>;
}

async function listening(words: readonly string[], workspace: Workspace): Promise<Served> {
  const server = await RunningServer.start([...words, "--listen", "ws://127.0.0.1:0"], workspace);
  return {
    connect: () => WireClient.connect(server.url),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function onStdio(words: readonly string[], workspace: Workspace): Served {
  const [program, ...args] = words;
  const command = new Deno.Command(program!, {
    args: [...args, "--listen", "stdio"],
    cwd: workspace.cwd,
    env: workspace.environment(),
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  });
  const child = endWithUs(command.spawn());
  return {
    connect: () => Promise.resolve(WireClient.overStdio(child)),
    async [Symbol.asyncDispose]() {
      await child.status; // the client has ended its input
    },
  };
}

const UUID = /"sessionId":"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"/;
const MALFORMED =
  /failed to parse (websocket JSON-RPC message from exec-server websocket [\d.:]+|JSON-RPC message from exec-server stdio): /;

/** What depends on the run, the carrier, the machine and our own version is made equal. */
function withoutSurroundings(text: string, { root }: Workspace): string {
  return text
    .replaceAll(root, "<workspace>")
    .replace(UUID, '"sessionId":"<id>"')
    .replace(MALFORMED, "failed to parse: ")
    .replace(/"providerId":"sha256:[0-9a-f]{64}"/, '"providerId":"<id>"')
    .replace(/"shell":\{[^{}]*\}/, '"shell":<shell>')
    .replace(/"serverInfo":\{[^{}]*\}/, '"serverInfo":<version>');
}
