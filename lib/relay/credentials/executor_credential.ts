import type { Clock } from "../../clock.ts";
import { type Json, JsonNumber, JsonSyntaxError, parseJson } from "../../json.ts";
import { type Credential, CredentialError } from "../credential.ts";
import { abortable } from "../../abortable.ts";
import { bearerHeaders, decodeText, isBearerToken } from "./bearer.ts";
import { FIRST_FRAME_TIMEOUT_MS, MAX_FRAME_BYTES } from "./limits.ts";
import type { StdinLines } from "./stdin_lines.ts";

const INVALID = "invalid exec-server executor credential frame";
const EXPIRED = "exec-server executor credential is expired";

export interface ExecutorCredentialOptions {
  readonly lines: StdinLines;
  readonly environmentId: string;
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** What standard input says of the executor's credential. */
export interface ExecutorCredential {
  readonly credential: Credential;
  /**
   * Resolves at the end of standard input, which is the executor's life line.
   *
   * @throws {CredentialError} A later frame was not one.
   */
  readonly ended: Promise<void>;
}

interface Frame {
  readonly token: string;
  /** Since 1970. */
  readonly expiresAtSeconds: bigint;
}

/**
 * `--executor-credential-stdin`: standard input is a stream of frames, each of which replaces the credential.
 *
 * @throws {CredentialError} There was no good first frame in time. Or the signal's reason.
 */
export async function executorCredential(options: ExecutorCredentialOptions): Promise<ExecutorCredential> {
  const { lines, now } = options;
  const first = await inTime(nextFrame(options), options);
  if (first === undefined) throw new CredentialError("exec-server executor credential pipe closed");
  let current = first;
  const follow = async (): Promise<void> => {
    for (let next; (next = await nextFrame({ ...options, lines })) !== undefined;) current = next;
  };
  const ended = follow();
  // Whoever waits for the end hears of a failure; until somebody does, it must not count as unhandled.
  ended.catch(() => {});
  const credential: Credential = {
    headers: () => {
      if (isExpired(current, now)) return Promise.reject(new CredentialError(EXPIRED));
      return Promise.resolve(bearerHeaders(current.token));
    },
    hidesErrorBodies: true,
  };
  return { credential, ended };
}

async function inTime<T>(work: Promise<T>, { clock, signal }: ExecutorCredentialOptions): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = clock.after(
    FIRST_FRAME_TIMEOUT_MS,
    () => reject(new CredentialError("timed out waiting for the initial exec-server executor credential")),
  );
  try {
    return await abortable(Promise.race([work, promise]), signal);
  } finally {
    timer.cancel();
  }
}

/** undefined: the end. */
async function nextFrame({ lines, environmentId, now }: ExecutorCredentialOptions): Promise<Frame | undefined> {
  const line = await lines.next(MAX_FRAME_BYTES);
  if (line.kind === "too long") {
    throw new CredentialError("exec-server executor credential frame exceeds the size limit");
  }
  if (line.kind === "end") {
    if (line.unfinished) throw new CredentialError(INVALID);
    return undefined;
  }
  const frame = parseFrame(decodeText(line.bytes, INVALID));
  if (frame.environmentId !== environmentId) {
    throw new CredentialError("exec-server executor credential is for a different environment");
  }
  if (isExpired(frame, now)) throw new CredentialError(EXPIRED);
  return frame;
}

function isExpired({ expiresAtSeconds }: Frame, now: () => number): boolean {
  return expiresAtSeconds <= BigInt(Math.floor(now() / 1000));
}

/** Exactly the four members, each once. */
function parseFrame(text: string): Frame & { readonly environmentId: string } {
  const members = parseMembers(text);
  const environmentId = members.get("environment_id");
  const token = members.get("token");
  const expiresAtSeconds = unsigned(members.get("expires_at"));
  if (
    members.size !== 4 || unsigned(members.get("version")) !== 1n || typeof environmentId !== "string" ||
    typeof token !== "string" || !isBearerToken(token) || expiresAtSeconds === undefined
  ) {
    throw new CredentialError(INVALID);
  }
  return { environmentId, token, expiresAtSeconds };
}

function parseMembers(text: string): ReadonlyMap<string, Json> {
  try {
    const json = parseJson(text);
    if (json instanceof Map) return json;
  } catch (error) {
    // The place in the text that it names is nobody's business.
    if (!(error instanceof JsonSyntaxError)) throw error;
  }
  throw new CredentialError(INVALID);
}

const LARGEST_U64 = 2n ** 64n - 1n;

function unsigned(json: Json | undefined): bigint | undefined {
  if (!(json instanceof JsonNumber) || !/^\d{1,20}$/.test(json.text)) return undefined;
  const number = BigInt(json.text);
  return number <= LARGEST_U64 ? number : undefined;
}
