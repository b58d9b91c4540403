import { ApiError } from '../../api/client.ts'
import { pictureAt, talks } from '../../api/talks.ts'
import type { SentFile } from './asked-of.ts'
import { toDataUrl } from './images.ts'
import type { Turn } from './turn.ts'

/** Pictures in the form in which a question sends them again, as far as they can be had. */
async function picturesAgain(images: readonly string[]): Promise<string[]> {
  const again = images.map(async (image) => {
    if (image.startsWith('data:')) return [image]
    const picture = await pictureAt(image).catch(() => null)
    return picture ? [await toDataUrl(picture)] : []
  })
  return (await Promise.all(again)).flat()
}

const MISSING = 404

/** Those of the files that the server still has; all that it does not deny. */
async function filesAgain(files: readonly SentFile[]): Promise<SentFile[]> {
  const isGone = (error: unknown) => error instanceof ApiError && error.status === MISSING
  const again = files.map(async (file) => {
    if (file.id === null) return []
    const gone = await talks.file(file.id).then(() => false, isGone)
    return gone ? [] : [file]
  })
  return (await Promise.all(again)).flat()
}

interface SentAgain extends Pick<Turn, 'images' | 'files'> {
  /** Names of the files that are not there any more. */
  readonly left: readonly string[]
}

/** What a question carries when it is asked again: pictures and files that are still there. */
export async function sentAgain({
  images: shown,
  files: sent,
}: Pick<Turn, 'images' | 'files'>): Promise<SentAgain> {
  const [images, files] = await Promise.all([picturesAgain(shown), filesAgain(sent)])
  const left = sent.filter((file) => !files.includes(file)).map(({ name }) => name)
  return { images, files, left }
}
