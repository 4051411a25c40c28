/** A client with a proxy between it and the server. */
import type { ClientOptions, ExecClient } from "../../../lib/client/client.ts";
import { connect } from "../../../lib/client/connect.ts";
import { type Alter, type MessageLink, MessageProxy, type WireMessage } from "../support/message_proxy.ts";
import { TcpProxy } from "../support/tcp_proxy.ts";
import type { Place } from "./case.ts";

/** Short enough for a test, long enough for a busy machine. */
export const SHORT: ClientOptions = {
  attachDeadlineMs: 15_000,
  recoveryDeadlineMs: 18_000,
  initializeTimeoutMs: 5_000,
};

export interface Proxied extends AsyncDisposable {
  readonly client: ExecClient;
  /** Sees and changes messages. */
  readonly messages: MessageProxy;
  /** Between the client and `messages`: cuts without a word. */
  readonly wire: TcpProxy;
  /** How many connections were lost so far. After one a server may have to be asked more than once. */
  losses(): number;
}

export interface ThroughOptions {
  readonly toServer?: Alter;
  readonly toClient?: Alter;
  readonly client?: ClientOptions;
}

/** Connects through both proxies. */
export async function through({ url }: Place, { client: options, ...alter }: ThroughOptions = {}): Promise<Proxied> {
  const stack = new AsyncDisposableStack();
  try {
    const messages = stack.use(new MessageProxy(url, alter));
    const wire = stack.use(new TcpProxy(messages.url));
    let losses = 0;
    const onState: ClientOptions["onState"] = (state) => {
      if (state === "disconnected") losses++;
      options?.onState?.(state);
    };
    const client = stack.use(await connect(wire.url, { ...SHORT, ...options, onState }));
    return { client, messages, wire, losses: () => losses, [Symbol.asyncDispose]: () => stack.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

/** Both at once are the usual way to lose an answer: the server has acted, and nobody hears of it. */
export function loseAnswerTo(method: string, times = 1): ThroughOptions & { readonly lost: () => number } {
  let lost = 0;
  const ids = new Set<string>();
  return {
    lost: () => lost,
    toServer: (message, link) => {
      if (message.method === method && lost < times) ids.add(key(message, link));
      return message;
    },
    toClient: (message, link) => {
      if (message.method !== undefined || !ids.delete(key(message, link))) return message;
      lost++;
      link.close();
      return undefined;
    },
  };
}

function key({ id }: WireMessage, { index }: MessageLink): string {
  return `${index} ${id}`;
}
