// Browsers refuse workers to pages that were opened as files, and search is one.
// There it runs in a hidden frame, which has a global scope of its own as a worker has.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(url) {
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.addEventListener("load", () => this.start(String(url)), { once: true });
      document.documentElement.appendChild(this.frame);
    }
    start(url) {
      this.scope = this.frame.contentWindow;
      this.scope.postMessage = (data) => setTimeout(() => this.onmessage?.({ data }));
      const script = this.scope.document.createElement("script");
      script.onload = () => {
        const waiting = this.waiting;
        this.waiting = null;
        waiting.forEach((data) => this.deliver(data));
      };
      script.onerror = (event) => this.onerror?.(event);
      script.src = url;
      this.scope.document.documentElement.appendChild(script);
    }
    deliver(data) {
      setTimeout(() => this.scope.dispatchEvent(new this.scope.MessageEvent("message", { data })));
    }
    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.deliver(data);
    }
    terminate() {
      this.frame.remove();
    }
  };
}
