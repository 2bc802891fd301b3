"""`python -m tables`: write the table and the samples anew."""

from __future__ import annotations

from tables.files import generate

if __name__ == "__main__":
    for path, content in generate().items():
        path.write_bytes(content)
        print(f"wrote {path} ({len(content) // 1024} KiB)")
