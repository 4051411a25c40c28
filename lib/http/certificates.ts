import { HttpFailure } from "./failure.ts";

/** The variables that name a file of certificates; the first that is not empty counts, as in the reference. */
const VARIABLES = ["CODEX_CA_CERTIFICATE", "SSL_CERT_FILE"];

/** Where the systems keep the certificates that their administrators trust; the first that is there counts. */
const SYSTEM_BUNDLES = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
  "/etc/ssl/ca-bundle.pem",
  "/etc/pki/tls/cacert.pem",
  "/etc/ssl/cert.pem",
];

const HINT =
  "If you set CODEX_CA_CERTIFICATE or SSL_CERT_FILE, ensure it points to a PEM file containing one or more " +
  "CERTIFICATE blocks, or unset it to use system roots.";

/**
 * The certificates, in PEM, that the environment adds to those which are trusted anyway.
 *
 * @throws {HttpFailure} Of stage `request`, naming variable and file: without what was asked for, nothing is sent.
 */
export async function extraCertificates(environment: ReadonlyMap<string, string>): Promise<string[]> {
  const variable = VARIABLES.find((name) => (environment.get(name) ?? "") !== "");
  if (variable === undefined) return [];
  const path = environment.get(variable)!;
  const pem = await Deno.readTextFile(path).catch((error) => {
    const reason = reasonOf(error);
    throw new HttpFailure(
      "request",
      `Failed to read CA certificate file ${path} selected by ${variable}: ${reason}. ${HINT}`,
      { cause: error },
    );
  });
  if (!pem.includes("-----BEGIN CERTIFICATE-----")) {
    const what = `Failed to load CA certificates from ${path} selected by ${variable}`;
    throw new HttpFailure("request", `${what}: no certificates found in PEM file. ${HINT}`);
  }
  return [pem];
}

/** What the platform says of a failure, without the call that it names as well. */
function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/: (?:open|readfile) .*$/s, "") : String(error);
}

/**
 * The certificates that this system trusts, in PEM. The platform brings a list of its own, which knows nothing of those
 * that an administrator has added.
 */
export async function systemCertificates(): Promise<string[]> {
  for (const path of SYSTEM_BUNDLES) {
    try {
      return [await Deno.readTextFile(path)];
    } catch (error) {
      // Each system has its own place, and one that may not be read is as good as none.
      if (!(error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied)) throw error;
    }
  }
  return [];
}
