import { type Credential, CredentialError } from "../credential.ts";
import { pause } from "../pause.ts";
import { Unprintable } from "../noise/unprintable.ts";
import { abortable } from "../../abortable.ts";
import type { AuthStore } from "./auth_file.ts";
import { bearerHeaders, FEDRAMP_HEADER } from "./bearer.ts";
import type { Network } from "./http_exchange.ts";
import { isFedRamp, jwtPayload } from "./jwt_payload.ts";
import { OTHERS_WRITE_MS, REFRESH_MARGIN_S } from "./limits.ts";
import {
  areSame,
  haveSameOwner,
  type NewTokens,
  secondsLeft,
  signInMethod,
  type SignInTokens,
  signInTokens,
  userOf,
  withNewTokens,
} from "./sign_in_tokens.ts";
import { UnusableFile } from "./small_file.ts";
import { type RefreshReason, refreshTokens, RefreshTokenUsed } from "./token_endpoint.ts";

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

/** The store does not hold the sign-in any more that we began with: somebody has signed out, or signed in. */
class SignInGone extends CredentialError {}

/**
 * A sign-in with ChatGPT, kept in `auth.json` and shared through it with other programs: each looks there before it shows
 * or refreshes tokens, and leaves new ones there. Whoever signs out takes it from all of them.
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

  /** @throws {CredentialError} Also where the sign-in is gone, or the store cannot be read just now. As the reference. */
  async headers(signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    await this.#adoptStored();
    if (this.#secondsLeft() < REFRESH_MARGIN_S) {
      try {
        await this.#refresh("proactive_expiry", signal);
      } catch (error) {
        // What has not expired is still worth showing.
        if (!isFailedRefresh(error) || this.#secondsLeft() <= 0) throw error;
        this.#options.warn(error.message);
      }
    }
    const { access, accountId, id } = this.#tokens;
    const claims = id === undefined ? undefined : jwtPayload(id);
    const isOfGovernment = claims !== undefined && isFedRamp(claims);
    return { ...bearerHeaders(access, accountId), ...(isOfGovernment ? FEDRAMP_HEADER : {}) };
  }

  /**
   * As with the reference only a sign-in that says whose it is, by account and user, is refreshed for a 401, and a refresh
   * that fails lets the 401 stand, whatever it failed of. Seen.
   *
   * @throws {CredentialError} The sign-in is gone.
   */
  async renew(refused: Readonly<Record<string, string>>, signal: AbortSignal): Promise<boolean> {
    const isOther = () => bearerHeaders(this.#tokens.access)["authorization"] !== refused["authorization"];
    if (isOther()) return true;
    if (this.#tokens.accountId === undefined || userOf(this.#tokens) === undefined) return false;
    try {
      await this.#refresh("forced", signal);
    } catch (error) {
      if (!isFailedRefresh(error)) throw error;
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
    await abortable(this.#refreshing, signal);
  }

  async #refreshOnce(reason: RefreshReason): Promise<void> {
    if (await this.#adoptStored() && this.#secondsLeft() >= REFRESH_MARGIN_S) return;
    const { access, refresh, id, accountId } = this.#tokens;
    if (refresh === undefined) {
      throw new CredentialError(
        `the ChatGPT sign-in of ${this.#options.store.path} has no refresh token; sign in again`,
      );
    }
    if (this.#lost?.refresh === refresh) throw this.#lost.error;
    const news = await this.#exchange(refresh, reason);
    // Another program was faster with the same refresh token.
    if (news === undefined) return;
    const tokens = { access: news.access ?? access, refresh: news.refresh ?? refresh, id: news.id ?? id, accountId };
    // The old refresh token is spent, so these are written down whosever they are.
    await this.#write(tokens);
    if (!haveSameOwner(this.#tokens, tokens)) throw new SignInGone("the token endpoint's answer is for another user");
    this.#tokens = tokens;
    if (news.access === undefined) throw new CredentialError("the token endpoint's answer has no access_token");
  }

  /** undefined: the endpoint has refused, and another program had been faster and left new tokens. */
  async #exchange(refresh: string, reason: RefreshReason): Promise<NewTokens | undefined> {
    const { network, tokenEndpoint } = this.#options;
    try {
      return await refreshTokens(network, tokenEndpoint, refresh, reason);
    } catch (error) {
      if (!(error instanceof CredentialError) || error.transient) throw error;
      if (await this.#adoptStored()) return undefined;
      if (error instanceof RefreshTokenUsed) {
        // Whoever has used it has the answer, and still has to write it down.
        await pause(network.clock, OTHERS_WRITE_MS, new AbortController().signal);
        if (await this.#adoptStored()) return undefined;
      }
      this.#lost = { refresh, error };
      throw error;
    }
  }

  /**
   * Takes over what another program has put into the store. False: nothing is new there.
   *
   * @throws {CredentialError} The sign-in is gone, or the store cannot be read, which may pass.
   */
  async #adoptStored(): Promise<boolean> {
    const { path } = this.#options.store;
    const known = this.#stored;
    const found = await this.#read();
    // What we have written ourselves since we looked is newer than what we saw.
    if (this.#stored !== known) return false;
    if (found === undefined) throw new SignInGone(`${path} holds no ChatGPT sign-in any more`);
    if (areSame(found, known)) return false;
    if (!haveSameOwner(this.#tokens, found)) {
      throw new SignInGone(`${path} holds the sign-in of another account or user by now; start again to use it`);
    }
    this.#tokens = this.#stored = found;
    return true;
  }

  async #read(): Promise<SignInTokens | undefined> {
    const { store } = this.#options;
    try {
      const file = await store.read();
      const method = file === undefined ? undefined : signInMethod(file);
      return method?.kind === "chatgpt" ? method.tokens : undefined;
    } catch (error) {
      if (!(error instanceof UnusableFile)) throw error;
      throw new CredentialError(`failed to read ${store.path} again: ${error.message}`, true, { cause: error.cause });
    }
  }

  /** A failure is no reason to end: what we hold in memory is good. */
  async #write(tokens: SignInTokens): Promise<void> {
    const { store, now, warn } = this.#options;
    const lost = (why: string) => warn(`the refreshed ChatGPT tokens are not in ${store.path}: ${why}`);
    try {
      const file = await store.read();
      const found = file === undefined ? undefined : signInTokens(file);
      if (file === undefined || found === undefined || !areSame(found, this.#stored)) {
        return lost("another program has changed or removed it meanwhile");
      }
      // What an earlier failure left unwritten is written now.
      await store.replace(withNewTokens(file, tokens, now()));
      this.#stored = tokens;
    } catch (error) {
      if (!(error instanceof UnusableFile)) throw error;
      lost(error.message);
    }
  }
}

/** New tokens cannot be had, and those that there are may still be good. */
function isFailedRefresh(error: unknown): error is CredentialError {
  return error instanceof CredentialError && !(error instanceof SignInGone);
}
