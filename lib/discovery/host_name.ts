/** How many bytes of the table of hosts are looked at. */
const MAX_HOSTS_BYTES = 65_536;

/**
 * The full name of this machine in lower case, as far as the machine itself knows it: no name server is asked.
 *
 * @param hostsFile Where the table of hosts is.
 * @returns Null if it has no name.
 */
export async function hostName(hostsFile = "/etc/hosts"): Promise<string | null> {
  const name = normalized(Deno.hostname());
  if (name === "") return null;
  return fullName(name, await readBeginning(hostsFile));
}

/** The first name in the first line with that name, if it has a domain. */
export function fullName(name: string, hosts: string): string {
  for (const line of hosts.split("\n")) {
    const [address, ...names] = line.replace(/#.*/, "").split(/\s+/).filter((word) => word !== "");
    if (address === undefined || !/^[\d.]+$|:/.test(address) || !names.includes(name)) continue;
    const full = normalized(names[0] as string);
    return full.includes(".") ? full : name;
  }
  return name;
}

function normalized(name: string): string {
  return name.trim().replace(/\.+$/, "").toLowerCase();
}

/** Empty if it cannot be read: then the short name has to do. */
async function readBeginning(path: string): Promise<string> {
  try {
    using file = await Deno.open(path);
    const bytes = new Uint8Array(MAX_HOSTS_BYTES);
    const count = await file.read(bytes) ?? 0;
    return new TextDecoder().decode(bytes.subarray(0, count));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied) return "";
    throw error;
  }
}
