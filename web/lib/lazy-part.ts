import { lazyRouteComponent } from '@tanstack/react-router'
import { loadChunk } from './lazy-chunks.ts'

/**
 * A part of the console in a file of its own, loaded when it is first shown. One that the server
 * has no more, since it has another build by now, loads the whole page anew; drafts outlive that.
 */
export const lazyPart = <T extends Record<string, unknown>, Name extends keyof T & string>(
  load: () => Promise<T>,
  name: Name,
) => lazyRouteComponent(() => loadChunk(load), name)
