/** Where AWS's library looks for the credentials of a user; all of it may hold keys or tokens. */
const USER_DIRECTORY = ".aws";
const FILE_VARIABLES = [
  "AWS_SHARED_CREDENTIALS_FILE",
  "AWS_CONFIG_FILE",
  "AWS_WEB_IDENTITY_TOKEN_FILE",
  "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
];

/**
 * The files and directories that AWS's credentials can come from, as they are named; they need not exist. What a profile
 * names in its turn is not among them.
 */
export function awsFiles(env: (name: string) => string | undefined): string[] {
  const home = env("HOME") || env("USERPROFILE");
  const files = FILE_VARIABLES.flatMap((name) => env(name) || []);
  return home ? [`${home}/${USER_DIRECTORY}`, ...files] : files;
}
