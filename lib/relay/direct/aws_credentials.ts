import { CredentialError, type RequestSigner } from "../credential.ts";
import { abortable } from "../../abortable.ts";
import { MAX_SHOWN_ERROR_LENGTH } from "../limits.ts";
import { printable } from "../registry/printable.ts";
import { type AwsCredentials, sigV4Headers } from "./sigv4.ts";

/** What we use of AWS's own library, which finds credentials in files, programs, containers and machines of AWS. */
export interface AwsLibrary {
  /**
   * The library's chain; what it yields is remembered until shortly before it expires.
   *
   * @param profile Undefined: what the environment says.
   */
  provider(profile: string | undefined): () => Promise<AwsCredentials>;
  /** The region that a profile names in the shared files. */
  region(profile: string): Promise<string | undefined>;
}

export interface AwsSignerOptions {
  /** `--aws-profile`: only what this profile leads to. */
  readonly profile?: string | undefined;
  /** `--aws-region` */
  readonly region?: string | undefined;
  /** `--aws-service` */
  readonly service: string;
  readonly env: (name: string) => string | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Loads the library; called only where the environment alone does not do. */
  readonly library: () => Promise<AwsLibrary>;
}

/**
 * Signs requests as whoever AWS takes us for: the profile of `--aws-profile`; else the keys of the environment; else what
 * the library's chain finds.
 *
 * @throws {CredentialError} There is no region. Whether there are credentials shows the first request.
 */
export async function awsSigner(options: AwsSignerOptions): Promise<RequestSigner> {
  const region = await findRegion(options);
  const credentials = credentialSource(options);
  return {
    sign: async (request, signal) => {
      const found = await abortable(credentials(), signal);
      return await sigV4Headers(request, found, { region, service: options.service }, new Date(options.now()));
    },
  };
}

async function findRegion({ region, profile, env, library }: AwsSignerOptions): Promise<string> {
  const found = region?.trim() || env("AWS_REGION")?.trim() || env("AWS_DEFAULT_REGION")?.trim() ||
    await (await library()).region(profile ?? env("AWS_PROFILE") ?? "default");
  if (!found) {
    throw new CredentialError("AWS SDK config did not resolve a region; give --aws-region or set AWS_REGION");
  }
  // It becomes part of a header.
  if (!/^[\w-]+$/.test(found)) {
    throw new CredentialError("the AWS region is not one: letters, digits and hyphens expected");
  }
  return found;
}

function credentialSource({ profile, env, library }: AwsSignerOptions): () => Promise<AwsCredentials> {
  const ofEnvironment = environmentKeys(env);
  if (profile === undefined && ofEnvironment !== undefined) return () => Promise.resolve(ofEnvironment);
  let provider: (() => Promise<AwsCredentials>) | undefined;
  let everFound = false;
  return async () => {
    try {
      provider ??= (await library()).provider(profile);
      const found = await provider();
      everFound = true;
      return found;
    } catch (error) {
      // What has been there once may come back; what never was, should be told to somebody. The cause may hold a secret.
      throw new CredentialError(`failed to load AWS credentials: ${reason(error)}`, everFound);
    }
  };
}

function environmentKeys(env: AwsSignerOptions["env"]): AwsCredentials | undefined {
  const accessKeyId = env("AWS_ACCESS_KEY_ID")?.trim();
  const secretAccessKey = env("AWS_SECRET_ACCESS_KEY")?.trim();
  if (!accessKeyId || !secretAccessKey) return undefined;
  return { accessKeyId, secretAccessKey, sessionToken: env("AWS_SESSION_TOKEN")?.trim() || undefined };
}

/** What the library says, unless it repeats the command line of a program or a piece of what should be credentials. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return "unknown error";
  if (error.message.startsWith("Command failed")) return "the profile's credential_process failed";
  if (error instanceof SyntaxError || error.message.includes("is not valid JSON")) return "they are not valid JSON";
  return printable(error.message, MAX_SHOWN_ERROR_LENGTH);
}

/** The library would warn on the console that a profile wins over the environment's keys, which was asked for. */
const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

/** Loads AWS's library; it takes a tenth of a second. It reads the environment of the process by itself. */
export async function loadAwsLibrary(): Promise<AwsLibrary> {
  const [{ defaultProvider }, { loadSharedConfigFiles }] = await Promise.all([
    import("@aws-sdk/credential-provider-node"),
    import("@smithy/core/config"),
  ]);
  return {
    provider: (profile) => defaultProvider(profile === undefined ? { logger: QUIET } : { profile, logger: QUIET }),
    async region(profile) {
      const { configFile, credentialsFile } = await loadSharedConfigFiles();
      return configFile[profile]?.["region"] ?? credentialsFile[profile]?.["region"];
    },
  };
}
