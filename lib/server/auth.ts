import { checkJwt, type JwtRules } from "./jwt.ts";

/** Checks an upgrade's `Authorization` header (null: there is none): undefined lets it in, a text is the refusal. */
export type Authorizer = (authorization: string | null) => Promise<string | undefined>;

/** How upgrades are to be authorized, as the command line says it; paths may be relative. */
export type AuthSettings =
  | { readonly mode: "capability-token"; readonly token: { readonly file: string } | { readonly sha256: string } }
  | {
    readonly mode: "signed-bearer-token";
    readonly secretFile: string;
    /** Null: whatever the token says. */
    readonly issuer: string | null;
    readonly audience: string | null;
    /** Tolerated difference between the clocks, in whole seconds. */
    readonly maxClockSkewSeconds: bigint;
  };

/** What {@linkcode createAuthorizer} needs from outside. */
export interface AuthEnvironment {
  readonly readFile: (path: string) => Uint8Array<ArrayBuffer>;
  readonly cwd: () => string;
  /** For paths that begin with `~`. */
  readonly home: string | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Shortest shared secret, in bytes: HS256 with less is weaker than its hash. Source: the reference. */
const MIN_SECRET_BYTES = 32;
const LARGEST_I64 = 2n ** 63n - 1n;

const encoder = new TextEncoder();

/**
 * Prepares the check of every upgrade: reads and validates what the settings name.
 *
 * @throws {Error} With the sentence for the operator; it names the file, never what is in it.
 */
export async function createAuthorizer(settings: AuthSettings, environment: AuthEnvironment): Promise<Authorizer> {
  if (settings.mode === "capability-token") {
    const expected = "sha256" in settings.token
      ? Uint8Array.fromHex(settings.token.sha256)
      : await sha256(readSecret(absolutePath(settings.token.file, environment), environment));
    return authorizer(async (token) =>
      equalInConstantTime(await sha256(token), expected) ? undefined : "invalid websocket bearer token"
    );
  }
  const path = absolutePath(settings.secretFile, environment);
  const secret = encoder.encode(readSecret(path, environment));
  if (secret.length < MIN_SECRET_BYTES) {
    throw new Error(`signed websocket bearer secret ${path} must be at least ${MIN_SECRET_BYTES} bytes`);
  }
  if (settings.maxClockSkewSeconds > LARGEST_I64) {
    throw new Error("websocket auth clock skew must fit in a signed 64-bit integer");
  }
  const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  const rules: JwtRules = {
    key,
    issuer: settings.issuer,
    audience: settings.audience,
    skewSeconds: settings.maxClockSkewSeconds,
  };
  return authorizer((token) => checkJwt(token, rules, BigInt(Math.floor(environment.now() / 1000))));
}

/** The file that the settings name, by its absolute path, for who must keep it from others; undefined: none. */
export function secretFile(
  settings: AuthSettings,
  environment: Pick<AuthEnvironment, "cwd" | "home">,
): string | undefined {
  if (settings.mode === "signed-bearer-token") return absolutePath(settings.secretFile, environment);
  return "file" in settings.token ? absolutePath(settings.token.file, environment) : undefined;
}

/** Takes the token out of the header and asks `check`. */
function authorizer(check: (token: string) => Promise<string | undefined>): Authorizer {
  return async (authorization) => {
    if (authorization === null) return "missing websocket bearer token";
    let refusal: string | undefined = "invalid authorization header";
    for (const header of candidates(authorization)) {
      const token = bearerToken(header);
      refusal = token === undefined ? "invalid authorization header" : await check(token);
      if (refusal === undefined) return undefined;
    }
    return refusal;
  };
}

/**
 * What the first `Authorization` header may have said. Only the first counts, but the platform joins repeated headers
 * with a comma: so either it was the only one, or it ended at the first comma. Being generous here gives nothing away,
 * for whoever gets in has shown the whole token, and in the first place.
 */
function candidates(authorization: string): string[] {
  const comma = authorization.indexOf(", ");
  return comma < 0 ? [authorization] : [authorization, authorization.slice(0, comma)];
}

/** The token of `Bearer TOKEN`: one space at least, then printable ASCII. */
function bearerToken(header: string): string | undefined {
  const space = header.indexOf(" ");
  if (space < 0 || header.slice(0, space).toLowerCase() !== "bearer" || !/^[\t\x20-\x7e]*$/.test(header)) {
    return undefined;
  }
  return header.slice(space).trim() || undefined;
}

function readSecret(path: string, { readFile }: AuthEnvironment): string {
  let secret: string;
  try {
    secret = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFile(path)).trim();
  } catch (error) {
    throw new Error(`failed to read websocket auth secret ${path}: ${readFailure(error)}`, { cause: error });
  }
  if (secret === "") throw new Error(`websocket auth secret ${path} must not be empty`);
  return secret;
}

/** The platform appends what it was doing to the system's sentence. */
function readFailure(error: unknown): string {
  if (error instanceof TypeError) return "stream did not contain valid UTF-8";
  const message = error instanceof Error ? error.message : String(error);
  return message.match(/^.*?\(os error \d+\)/)?.[0] ?? message;
}

/** `path` from the working directory, without `.`, `..` and doubled slashes; `~` is the home directory. */
function absolutePath(path: string, { cwd, home }: Pick<AuthEnvironment, "cwd" | "home">): string {
  const expanded = home !== undefined && /^~(\/|$)/.test(path) ? home + path.slice(1) : path;
  const parts: string[] = [];
  for (const part of (expanded.startsWith("/") ? expanded : `${cwd()}/${expanded}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return "/" + parts.join("/");
}

async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode(text)));
}

/** Compares two digests in a time that tells nothing of where they differ. */
function equalInConstantTime(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < a.length; i++) difference |= a[i]! ^ b[i]!;
  return difference === 0;
}
