/** Marks every form with unsaved input. */
export function markDirtyForms(): void {
  addEventListener('input', ({ target }) => {
    if (target instanceof Element) target.closest('form')?.setAttribute('data-typed', '')
  })
}

/** Whether leaving the page would lose input. */
export const isDirty = (within = ''): boolean =>
  document.querySelector(`${within} form[data-typed]`) !== null
