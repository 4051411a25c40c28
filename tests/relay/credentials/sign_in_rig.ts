import { type JsonObject, plainJson } from "../../../lib/json.ts";
import type { AuthStore } from "../../../lib/relay/credentials/auth_file.ts";
import { ChatGptSignIn } from "../../../lib/relay/credentials/chatgpt_sign_in.ts";
import { signInTokens } from "../../../lib/relay/credentials/sign_in_tokens.ts";
import { UnusableFile } from "../../../lib/relay/credentials/small_file.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { members, unsignedJwt } from "./tokens.ts";

export const NOW_S = 1_800_000_000;
export const ENDPOINT = "https://auth.example/oauth/token?secret";

/** An access token that expires so many seconds from now. */
export function accessToken(secondsLeft: number, mark = ""): string {
  return unsignedJwt({ exp: NOW_S + secondsLeft, mark });
}

/** An id token of this user of `acc-1`. */
export function idToken(user: string, mark = ""): string {
  return unsignedJwt({
    "https://api.openai.com/auth": { chatgpt_account_id: "acc-1", chatgpt_user_id: user },
    mark,
  });
}

/** What the token endpoint was asked. */
export interface Asked {
  readonly url: string;
  readonly init: RequestInit;
  readonly body: Record<string, unknown>;
}

/** A sign-in whose file and token endpoint are the test's. */
export class SignInRig {
  readonly signal: AbortSignal = new AbortController().signal;
  readonly clock = new ManualClock();
  readonly warnings: string[] = [];
  readonly asked: Asked[] = [];
  nowMs = NOW_S * 1000;
  /** `auth.json`; undefined: there is none. */
  file: JsonObject | undefined;
  /** Set: the file cannot be written. */
  writeFailure: string | undefined;
  readFailure: string | undefined;
  /** What the endpoint answers; by default new tokens, numbered. */
  answer: (asked: Asked) => Response | Promise<Response> = () => Response.json(this.newTokens());
  readonly signIn: ChatGptSignIn;
  #held: Promise<void> | undefined;

  constructor(tokens: Record<string, unknown> = {}) {
    const usual = { access_token: accessToken(3600), refresh_token: "refresh-0", id_token: idToken("user-1") };
    const stored = { ...usual, account_id: "acc-1", ...tokens };
    this.file = members({ auth_mode: "chatgpt", tokens: stored, other: { kept: 1.5 } });
    const store: AuthStore = {
      path: "/home/auth.json",
      read: () => {
        if (this.readFailure !== undefined) return Promise.reject(new UnusableFile(this.readFailure, false));
        return this.#read(this.file);
      },
      replace: (members) => {
        if (this.writeFailure !== undefined) return Promise.reject(new UnusableFile(this.writeFailure, false));
        this.file = members;
        return Promise.resolve();
      },
    };
    this.signIn = new ChatGptSignIn({
      store,
      tokens: signInTokens(this.file)!,
      network: { fetch: (url, init) => this.#fetch(String(url), init ?? {}), clock: this.clock },
      tokenEndpoint: ENDPOINT,
      now: () => this.nowMs,
      warn: (message) => this.warnings.push(message),
    });
  }

  newTokens(): Record<string, string> {
    const number = this.asked.length;
    return {
      access_token: accessToken(7200, `${number}`),
      refresh_token: `refresh-${number}`,
      id_token: idToken("user-1", `${number}`),
    };
  }

  /** Another program writes the file. */
  store(tokens: Record<string, unknown>): void {
    const usual = { id_token: idToken("user-1"), account_id: "acc-1" };
    this.file = members({ auth_mode: "chatgpt", tokens: { ...usual, ...tokens } });
  }

  /** What the next read finds stays on its way, as it was, until it is let go. */
  holdNextRead(): { release(): void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held = promise;
    return { release: resolve };
  }

  /** The next timer is due then. */
  async waitsUntil(ms: number): Promise<void> {
    while (this.clock.nextAt !== ms) await new Promise((resolve) => setTimeout(resolve));
  }

  get stored(): { readonly tokens: Record<string, unknown>; readonly [name: string]: unknown } {
    return plainJson(this.file!) as { tokens: Record<string, unknown> };
  }

  headers(): Promise<Readonly<Record<string, string>>> {
    return this.signIn.headers(this.signal);
  }

  async #read(file: JsonObject | undefined): Promise<JsonObject | undefined> {
    const held = this.#held;
    this.#held = undefined;
    await held;
    return file;
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    const asked = { url, init, body: JSON.parse(String(init.body)) };
    this.asked.push(asked);
    return await this.answer(asked);
  }
}
