// Browsers refuse workers of pages that are opened from the disk. There, a worker's script runs in a hidden frame instead.
// As between a page and a worker, messages are copied and arrive later.
if (location.protocol === "file:") {
  window.Worker = class FileWorker {
    #frame = document.createElement("iframe");
    #ready;
    onmessage = null;
    onerror = null;

    constructor(address) {
      this.#frame.hidden = true;
      document.documentElement.append(this.#frame);
      const inner = this.#frame.contentWindow;
      inner.postMessage = (data) => {
        const message = new MessageEvent("message", { data: structuredClone(data) });
        setTimeout(() => this.onmessage?.(message));
      };
      const script = inner.document.createElement("script");
      script.src = new URL(address, document.baseURI).href;
      this.#ready = new Promise((resolve) => (script.onload = resolve));
      script.onerror = (event) => this.onerror?.(event);
      inner.document.documentElement.append(script);
    }

    postMessage(data) {
      const copy = structuredClone(data);
      this.#ready.then(() => {
        const inner = this.#frame.contentWindow;
        inner?.dispatchEvent(new inner.MessageEvent("message", { data: copy }));
      });
    }

    terminate() {
      this.#frame.remove();
    }
  };
}
