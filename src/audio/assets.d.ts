/** With `type: 'file'` the bundler puts the file into the executable and gives its path. */
declare module 'wasm-media-encoders/wasm/mp3' {
  const path: string
  export default path
}
