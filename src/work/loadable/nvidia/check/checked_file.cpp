#include "loadable/nvidia/check/checked_file.h"

#include <algorithm>

namespace dlasim::loadable {

CheckedFile::CheckedFile(const RawFile& of, const Hardware& hardware, std::vector<Finding>& found) : file(of), hw(hardware), found_(found)
{
    for (const RawBlob& blob : file.blobs)
        if (blob.name) blobs_[*blob.name] = &blob;
}

void CheckedFile::add(Finding finding)
{
    if (finding.refused) ++refused_;
    found_.push_back(std::move(finding));
    if (found_.size() >= kMostFindings) throw TooManyFindings{};
}

const RawBlob* CheckedFile::blob(const std::string& name) const
{
    const auto at = blobs_.find(name);
    return at == blobs_.end() ? nullptr : at->second;
}

MemoryView CheckedFile::view(const RawMemory& memory, std::uint64_t from) const
{
    const std::uint64_t size = memory.size - std::min(from, memory.size);
    std::vector<std::uint8_t> set;
    for (std::size_t i = 0; i < std::min(memory.contents.size(), memory.offsets.size()); ++i) {
        const RawBlob* content = blob(memory.contents[i]);
        const std::uint64_t offset = memory.offsets[i];
        if (!content || offset >= std::min(memory.size, kMaxBytes)) continue;
        const std::uint64_t bytes = std::min<std::uint64_t>(content->bytes.size(), memory.size - offset);
        const std::uint64_t skipped = from > offset ? std::min(from - offset, bytes) : 0;
        if (skipped == bytes) continue;
        const std::uint64_t at = offset + skipped - from;
        set.resize(std::max<std::size_t>(set.size(), at + bytes - skipped));
        std::copy_n(content->bytes.begin() + static_cast<std::ptrdiff_t>(skipped), bytes - skipped,
                    set.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return {std::move(set), size, {}};
}

}  // namespace dlasim::loadable
