import { useEffect, useState } from 'react'
import { droppedFiles } from './dropped-files.ts'

const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes('Files') === true

/**
 * Accepts files, also whole folders, that are dropped anywhere on the page; `isWhole` is false
 * where some were too many or could not be read. True while files are held over it.
 */
export function useDrop(onFiles: (files: readonly File[], isWhole: boolean) => void): boolean {
  const [over, setOver] = useState(false)
  useEffect(() => {
    const onOver = (event: DragEvent) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      setOver(true)
    }
    const onLeave = (event: DragEvent) => event.relatedTarget === null && setOver(false)
    const onDrop = (event: DragEvent) => {
      setOver(false)
      if (!hasFiles(event)) return
      event.preventDefault()
      if (!event.dataTransfer) return
      // Rejects for a folder where the server has another build, of which the frame tells.
      void droppedFiles(event.dataTransfer).then(
        ({ files, isWhole }) => onFiles(files, isWhole),
        () => {},
      )
    }
    addEventListener('dragover', onOver)
    addEventListener('dragleave', onLeave)
    addEventListener('drop', onDrop)
    return () => {
      removeEventListener('dragover', onOver)
      removeEventListener('dragleave', onLeave)
      removeEventListener('drop', onDrop)
    }
  }, [onFiles])
  return over
}
