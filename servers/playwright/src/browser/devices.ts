import { nearest, ToolError } from "@refmcp/boundary/answer";
import type { BrowserContextOptions } from "playwright";
import { playwright } from "./library.ts";

/** One column of the matrix. */
export interface Device {
  readonly name: string;
  readonly options: BrowserContextOptions;
  /** Its names in Playwright's device list, and the additional options, for a spec. */
  readonly descriptors: readonly string[];
  readonly others: BrowserContextOptions;
}

const MAX_DEVICES = 8;
const DEFAULT_VIEWPORT = { width: 1280, height: 720 } as const;

/** Modes in addition to Playwright's device names, joined with a plus: `iPhone 15 + dark`. */
const MODES: Readonly<Record<string, BrowserContextOptions>> = {
  desktop: {},
  dark: { colorScheme: "dark" },
  light: { colorScheme: "light" },
  "reduced motion": { reducedMotion: "reduce" },
  "forced colors": { forcedColors: "active" },
  "no javascript": { javaScriptEnabled: false },
  rtl: { locale: "ar" },
};

/**
 * The devices of a run.
 *
 * @throws ToolError `invalid` for an unknown name, with similar ones.
 */
export async function devicesOf(names: readonly string[]): Promise<Device[]> {
  if (names.length > MAX_DEVICES)
    throw new ToolError("invalid", `At most ${MAX_DEVICES} devices are allowed.`);
  const deviceNames = [...new Set(names.length === 0 ? ["desktop"] : names)];
  return Promise.all(deviceNames.map(deviceOf));
}

async function deviceOf(name: string): Promise<Device> {
  const parts = name.split("+").map((part) => part.trim());
  const options = await Promise.all(parts.map((part) => partOf(part, name)));
  return {
    name,
    options: Object.assign({ viewport: DEFAULT_VIEWPORT }, ...options.map((part) => part.options)),
    descriptors: options.flatMap(({ descriptor }) => descriptor ?? []),
    others: Object.assign(
      {},
      ...options.map((part) => (part.descriptor === undefined ? part.options : {})),
    ),
  };
}

async function partOf(
  part: string,
  name: string,
): Promise<{ descriptor?: string; options: BrowserContextOptions }> {
  const mode = MODES[part.toLowerCase()];
  if (mode !== undefined) return { options: mode };
  const size = /^(\d{2,4})\s*x\s*(\d{2,4})$/i.exec(part);
  if (size !== null) {
    const [width, height] = [Number(size[1]), Number(size[2])];
    if (width >= 50 && height >= 50 && width <= 4_000 && height <= 4_000)
      return { options: { viewport: { width, height } } };
    const range = "use a size from 50x50 to 4000x4000";
    throw new ToolError("invalid", `devices: ${JSON.stringify(name)} is out of range; ${range}.`);
  }
  const { devices } = playwright();
  const descriptorNames = Object.keys(devices);
  const key = descriptorNames.find((key) => key.toLowerCase() === part.toLowerCase());
  const descriptor = key === undefined ? undefined : devices[key];
  if (descriptor !== undefined && key !== undefined) {
    const { defaultBrowserType: _, ...options } = descriptor;
    return { descriptor: key, options };
  }
  const near = nearest(part, [...descriptorNames, ...Object.keys(MODES)]);
  const quotedPart = JSON.stringify(part.slice(0, 60));
  throw new ToolError("invalid", `devices: there is no device ${quotedPart}.`, {
    hint: `${near.length === 0 ? "" : `Did you mean ${near.join(", ")}? `}Use a name from Playwright's device list ("iPhone 15"), a size ("1024x768") or ${Object.keys(MODES).join(", ")}; join several with +.`,
  });
}
