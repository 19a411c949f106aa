/** The root of the clone. */
export const ROOT: string;
export function packageFolders(): Promise<string[]>;
export function serverNames(): string[];
