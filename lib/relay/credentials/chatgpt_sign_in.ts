import { type Credential, CredentialError } from "../credential.ts";
import { Unprintable } from "../noise/unprintable.ts";
import { unlessAborted } from "./abortable.ts";
import type { AuthStore } from "./auth_file.ts";
import { bearerHeaders, FEDRAMP_HEADER } from "./bearer.ts";
import type { Network } from "./http_exchange.ts";
import { isFedRamp, jwtPayload } from "./jwt_payload.ts";
import { REFRESH_MARGIN_S } from "./limits.ts";
import {
  areSame,
  type NewTokens,
  secondsLeft,
  type SignInTokens,
  signInTokens,
  withNewTokens,
} from "./sign_in_tokens.ts";
import { UnusableFile } from "./small_file.ts";
import { type RefreshReason, refreshTokens } from "./token_endpoint.ts";

export interface SignInOptions {
  readonly store: AuthStore;
  /** What the store held when it was looked at. */
  readonly tokens: SignInTokens;
  readonly network: Network;
  readonly tokenEndpoint: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Hears of what went wrong and does not end anything. Without secrets. */
  readonly warn: (message: string) => void;
}

/**
 * A sign-in with ChatGPT, kept in `auth.json` and shared through it with other programs: each looks there before it
 * refreshes, and leaves the new tokens there.
 *
 * A refresh token is good for one refresh. So one that is on its way is shared by all who need it, outlives whoever
 * asked for it, and is written down before anybody is told.
 */
export class ChatGptSignIn extends Unprintable implements Credential {
  readonly #options: SignInOptions;
  #tokens: SignInTokens;
  /** What the store held when we last read or wrote it: anything else there is another program's work. */
  #stored: SignInTokens;
  #refreshing: Promise<void> | undefined;
  /** The endpoint's final word on the refresh token that we have: it is not asked again about the same. */
  #lost: { readonly refresh: string; readonly error: CredentialError } | undefined;

  constructor(options: SignInOptions) {
    super();
    this.#options = options;
    this.#tokens = this.#stored = options.tokens;
  }

  async headers(signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    if (this.#secondsLeft() < REFRESH_MARGIN_S) {
      try {
        await this.#refresh("proactive_expiry", signal);
      } catch (error) {
        // What has not expired is still worth showing.
        if (!(error instanceof CredentialError) || this.#secondsLeft() <= 0) throw error;
        this.#options.warn(error.message);
      }
    }
    const { access, accountId, id } = this.#tokens;
    const claims = id === undefined ? undefined : jwtPayload(id);
    const isOfGovernment = claims !== undefined && isFedRamp(claims);
    return { ...bearerHeaders(access, accountId), ...(isOfGovernment ? FEDRAMP_HEADER : {}) };
  }

  /** @throws {CredentialError} New tokens cannot be had just now. */
  async renew(refused: Readonly<Record<string, string>>, signal: AbortSignal): Promise<boolean> {
    const isOther = () => bearerHeaders(this.#tokens.access)["authorization"] !== refused["authorization"];
    if (isOther()) return true;
    try {
      await this.#refresh("forced", signal);
    } catch (error) {
      if (!(error instanceof CredentialError) || error.transient) throw error;
      this.#options.warn(error.message);
    }
    return isOther();
  }

  #secondsLeft(): number {
    return secondsLeft(this.#tokens, this.#options.now());
  }

  /** Resolves when there are new tokens, ours or another program's. */
  async #refresh(reason: RefreshReason, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#refreshing ??= this.#refreshOnce(reason).finally(() => this.#refreshing = undefined);
    await unlessAborted(this.#refreshing, signal);
  }

  async #refreshOnce(reason: RefreshReason): Promise<void> {
    if (await this.#adoptStored() && this.#secondsLeft() >= REFRESH_MARGIN_S) return;
    const { refresh } = this.#tokens;
    if (refresh === undefined) {
      throw new CredentialError(
        `the ChatGPT sign-in of ${this.#options.store.path} has no refresh token; sign in again`,
      );
    }
    if (this.#lost?.refresh === refresh) throw this.#lost.error;
    const news = await this.#exchange(refresh, reason);
    this.#tokens = {
      access: news.access ?? this.#tokens.access,
      refresh: news.refresh ?? refresh,
      id: news.id ?? this.#tokens.id,
      accountId: this.#tokens.accountId,
    };
    await this.#write();
    if (news.access === undefined) throw new CredentialError("the token endpoint's answer has no access_token");
  }

  async #exchange(refresh: string, reason: RefreshReason): Promise<NewTokens> {
    const { network, tokenEndpoint } = this.#options;
    try {
      return await refreshTokens(network, tokenEndpoint, refresh, reason);
    } catch (error) {
      if (error instanceof CredentialError && !error.transient) this.#lost = { refresh, error };
      throw error;
    }
  }

  /**
   * Takes over what another program has put into the store. False: nothing is new there, or nothing is there.
   *
   * @throws {CredentialError} Somebody else has signed in.
   */
  async #adoptStored(): Promise<boolean> {
    const { store, warn } = this.#options;
    let found: SignInTokens | undefined;
    try {
      const file = await store.read();
      found = file === undefined ? undefined : signInTokens(file);
    } catch (error) {
      if (!(error instanceof UnusableFile)) throw error;
      warn(`failed to read ${store.path} again: ${error.message}`);
    }
    if (found === undefined || areSame(found, this.#stored)) return false;
    if (found.accountId !== this.#tokens.accountId) {
      throw new CredentialError(`${store.path} holds the sign-in of another account by now; start again to use it`);
    }
    this.#tokens = this.#stored = found;
    return true;
  }

  /** A failure is no reason to end: what we hold in memory is good. */
  async #write(): Promise<void> {
    const { store, now, warn } = this.#options;
    const lost = (why: string) => warn(`the refreshed ChatGPT tokens are not in ${store.path}: ${why}`);
    try {
      const file = await store.read();
      const found = file === undefined ? undefined : signInTokens(file);
      if (file === undefined || found === undefined || !areSame(found, this.#stored)) {
        return lost("another program has changed or removed it meanwhile");
      }
      // What an earlier failure left unwritten is written now.
      await store.replace(withNewTokens(file, this.#tokens, now()));
      this.#stored = this.#tokens;
    } catch (error) {
      if (!(error instanceof UnusableFile)) throw error;
      lost(error.message);
    }
  }
}
