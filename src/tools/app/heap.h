// Memory of the command in large pages (Linux: transparent huge pages, on request). The kernel is asked once
// for each page that is touched, which on a virtual machine costs more than zeroing it; /usr/bin/time -f %R counts it.
#pragma once

namespace dlasim {

/// At the begin of main: the heap grows at once, in large pages, as far as small blocks need it. Blocks of megabytes have pages of their
/// own from the first one on (operator new). Not the heap where the address space is limited; nothing with AddressSanitizer.
void use_large_pages();
/// In a forked process: what it allocates lies in pages of its own, not beside what its parent has, which would be copied in small pages.
void leave_pages_of_parent();

}  // namespace dlasim
