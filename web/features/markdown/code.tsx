import { lazy, Suspense, useContext } from 'react'
import { loadChunk } from '../../lib/lazy-chunks.ts'
import { artifactOf, Shown } from '../artifacts/kinds.ts'
import { CodeBlock, type CodeProps } from './code-block.tsx'

const Artifact = lazy(async () => {
  const { Artifact: component } = await loadChunk(() => import('../artifacts/artifact.tsx'))
  return { default: component }
})

/** A block of code; one that can be shown and is whole is shown. */
export function Code({ isClosed, ...block }: CodeProps & { readonly isClosed: boolean }) {
  const shown = useContext(Shown)
  const kind = isClosed ? artifactOf(block.language, block.text, shown) : null
  const code = <CodeBlock {...block} />
  if (kind === null) return code
  return (
    <Suspense fallback={code}>
      <Artifact key={block.text} kind={kind} {...block} />
    </Suspense>
  )
}
