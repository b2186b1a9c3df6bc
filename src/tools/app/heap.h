// Memory of the command in large pages (Linux: transparent huge pages, on request). A page that is touched for the first time costs a
// microsecond, on virtual machines twenty: ResNet-50 with its values touches 28,000 small ones, or 900 pages in all.
#pragma once

namespace dlasim {

/// At the begin of main: the heap grows at once, in large pages, as far as small blocks need it. Blocks of megabytes have pages of their
/// own from the first one on (operator new). Not the heap where the address space is limited; nothing with AddressSanitizer.
void use_large_pages();
/// In a forked process: what it allocates lies in pages of its own, not beside what its parent has, which would be copied in small pages.
void leave_pages_of_parent();

}  // namespace dlasim
