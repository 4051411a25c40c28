/**
 * Whether the list in `NO_PROXY` names a host: itself, a domain it belongs to (with or without a dot before it), its
 * address or a network in CIDR notation. `*` stands for every name, though not for addresses, as in the reference.
 *
 * @param hostname As a `URL` has it.
 */
export function isExempt(hostname: string, list: string): boolean {
  const address = addressOf(hostname.replace(/^\[(.*)\]$/, "$1"));
  const entries = list.split(",").map((entry) => entry.trim()).filter((entry) => entry !== "");
  return entries.some((entry) => address === undefined ? namesHost(entry, hostname) : holdsAddress(entry, address));
}

function namesHost(entry: string, hostname: string): boolean {
  const domain = entry.replace(/^\./, "").toLowerCase();
  return entry === "*" || hostname === domain || (domain !== "" && hostname.endsWith(`.${domain}`));
}

function holdsAddress(entry: string, address: Uint8Array): boolean {
  const [text = "", length] = entry.split("/", 2);
  const network = addressOf(text);
  if (network === undefined || network.length !== address.length) return false;
  const bits = length === undefined ? address.length * 8 : /^\d{1,3}$/.test(length) ? Number(length) : NaN;
  if (!(bits <= address.length * 8)) return false;
  return network.every((byte, at) => {
    const mask = (0xff00 >> Math.min(8, Math.max(0, bits - 8 * at))) & 0xff;
    return (byte & mask) === (address[at]! & mask);
  });
}

/** The four or sixteen bytes of an address; undefined if this is none. */
function addressOf(text: string): Uint8Array | undefined {
  if (/^(?:(?:0|[1-9]\d{0,2})(?:\.|$)){4}$/.test(text) && !text.endsWith(".")) {
    const bytes = text.split(".").map(Number);
    return bytes.every((byte) => byte <= 255) ? Uint8Array.from(bytes) : undefined;
  }
  // The platform's parser knows all the ways to write one, and writes it in one.
  const canonical = text.includes(":") ? URL.parse(`http://[${text}]/`)?.hostname.slice(1, -1) : undefined;
  if (canonical === undefined) return undefined;
  const [before = [], after = []] = canonical.split("::").map((half) => half === "" ? [] : half.split(":"));
  const groups = [...before, ...Array<string>(8 - before.length - after.length).fill("0"), ...after];
  return Uint8Array.from(groups.flatMap((group) => [parseInt(group, 16) >> 8, parseInt(group, 16) & 0xff]));
}
