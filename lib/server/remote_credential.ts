import { waitingClock } from "../clock.ts";
import type { Credential, RequestSigner } from "../relay/credential.ts";
import type { CredentialChoice } from "../relay/credentials/choose.ts";
import type { ByteReader } from "../relay/credentials/stdin_lines.ts";

export type { ByteReader, CredentialChoice };

/** `--aws-sigv4` and what belongs to it. */
export interface AwsChoice {
  readonly profile?: string | undefined;
  readonly region?: string | undefined;
  readonly service: string;
}

/** What a credential is made of. */
export interface CredentialSources {
  readonly registry: string;
  readonly environmentId: string;
  readonly env: (name: string) => string | undefined;
  readonly stdin: ByteReader;
  /** Hears of what went wrong and does not end anything. Without secrets. */
  readonly warn: (message: string) => void;
  readonly signal: AbortSignal;
  /** The end of standard input ends everything, also where it holds no credential. */
  readonly endsWithStdin?: boolean;
}

/** A credential, and how long it is good for. */
export interface RemoteCredential<A = Credential> {
  readonly auth: A;
  /**
   * Where standard input is the life line: resolves at its end.
   *
   * @throws {Error} It said something that it must not say, or cannot be read.
   */
  readonly ended?: Promise<void>;
}

/**
 * The credential that the command line asks for, for a registry.
 *
 * @throws {Error} There is none, or not for this registry. Or the signal's reason.
 */
export async function remoteCredential(
  choice: CredentialChoice,
  { stdin, endsWithStdin = false, ...sources }: CredentialSources,
): Promise<RemoteCredential> {
  const [{ chooseCredential }, { StdinLines }] = await Promise.all([
    import("../relay/credentials/choose.ts"),
    import("../relay/credentials/stdin_lines.ts"),
  ]);
  const lines = new StdinLines(stdin);
  const { credential: auth, ended } = await chooseCredential(choice, {
    ...sources,
    environmentId: sources.environmentId.trim(),
    stdin: lines,
    fetch,
    clock: waitingClock,
    now: Date.now,
  });
  if (ended !== undefined) return { auth, ended };
  return endsWithStdin ? { auth, ended: lines.ended() } : { auth };
}

/**
 * The signer that the command line asks for, of the direct transport.
 *
 * @throws {Error} There is no region, or no service.
 */
export async function remoteSigner(
  { service, ...choice }: AwsChoice,
  { env, stdin, endsWithStdin = false }: CredentialSources,
): Promise<RemoteCredential<RequestSigner>> {
  if (service.trim() === "") throw new Error("AWS service name must not be empty");
  const [{ awsSigner, loadAwsLibrary }, { StdinLines }] = await Promise.all([
    import("../relay/direct/aws_credentials.ts"),
    import("../relay/credentials/stdin_lines.ts"),
  ]);
  const auth = await awsSigner({ ...choice, service: service.trim(), env, now: Date.now, library: loadAwsLibrary });
  return endsWithStdin ? { auth, ended: new StdinLines(stdin).ended() } : { auth };
}

/**
 * The files that the credential or the signer comes from: nothing in a sandbox may read them. Absolute paths; what is
 * there when they are wanted counts, so they need not exist.
 */
export async function registrationSecrets(
  { credential, aws }: { readonly credential: CredentialChoice; readonly aws: AwsChoice | null },
  { env, cwd }: { readonly env: (name: string) => string | undefined; readonly cwd: () => string },
): Promise<string[]> {
  const paths = aws === null
    ? (await import("../relay/credentials/credential_files.ts")).credentialFiles(credential, env)
    : (await import("../relay/direct/aws_files.ts")).awsFiles(env);
  return paths.map((path) => path.startsWith("/") ? path : `${cwd()}/${path}`);
}
