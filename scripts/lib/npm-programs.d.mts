export const NODES: Readonly<Partial<Record<number, string>>>;
export function npmPackages(packages: Readonly<Record<string, string>>): Promise<(path: string) => string>;
export function nodeProgram(major: number): Promise<{ program: string; folder: string }>;
