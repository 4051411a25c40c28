import { platformAes256Gcm } from "./platform_aes.ts";
import { platformHash } from "./platform_hash.ts";
import { platformMlKem768 } from "./platform_mlkem768.ts";
import { platformX25519 } from "./platform_x25519.ts";
import { worksAes256Gcm, worksMlKem768, worksX25519 } from "./primitive_checks.ts";
import type { Aes256Gcm, MlKem768, Primitives, X25519 } from "./primitives.ts";

/** What a runtime offers. */
export interface Platform {
  readonly node: typeof import("node:crypto");
  readonly subtle: SubtleCrypto | undefined;
}

let loading: Promise<Primitives> | undefined;

/**
 * The primitives of this runtime, each tried once: one that is missing, or that calculates something else, is replaced by
 * that of @noble, whose packages are loaded only then.
 */
export function loadPrimitives(): Promise<Primitives> {
  return loading ??= import("node:crypto")
    .then((node) => choosePrimitives({ node, subtle: globalThis.crypto?.subtle }))
    .catch((error) => {
      loading = undefined;
      throw error;
    });
}

/** {@linkcode loadPrimitives} of a given platform. */
export async function choosePrimitives(platform: Platform): Promise<Primitives> {
  return {
    hash: platformHash(platform.node),
    x25519: await chooseX25519(platform),
    mlkem768: await chooseMlKem768(platform),
    aes256Gcm: await chooseAes256Gcm(platform),
  };
}

async function chooseX25519({ node }: Platform): Promise<X25519> {
  const offered = platformX25519(node);
  return worksX25519(offered) ? offered : (await noble()).nobleX25519();
}

async function chooseMlKem768({ subtle }: Platform): Promise<MlKem768> {
  if (subtle !== undefined) {
    const offered = platformMlKem768(subtle);
    if (await worksMlKem768(offered)) return offered;
  }
  return (await noble()).nobleMlKem768();
}

async function chooseAes256Gcm({ node, subtle }: Platform): Promise<Aes256Gcm> {
  for (const background of [subtle, undefined]) {
    const offered = platformAes256Gcm(node, background);
    if (await worksAes256Gcm(offered)) return offered;
  }
  return (await noble()).nobleAes256Gcm;
}

function noble(): Promise<typeof import("./noble_primitives.ts")> {
  return import("./noble_primitives.ts");
}
