#include "loadable/verified_root.h"

#include "base/error.h"

namespace dlasim::loadable {
namespace {

constexpr std::uint32_t kDeepest = 8;  // a table in a table in the root: 3 in real files
constexpr std::uint32_t kMaxTables = 1u << 20;
constexpr std::uint32_t kMaxNames = 1u << 20;  // of contents, in all

/// The public kernel tests have numbers of 8 bytes at multiples of 4: alignment is not asked for.
flatbuffers::Verifier verifier_of(const std::string& bytes)
{
    return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), kDeepest, kMaxTables, false};
}

/// The names of contents are few. The Verifier looks at each, and in a hostile file all memories may share one long list of them.
bool contents_bounded(const std::string& bytes)
{
    flatbuffers::Verifier verifier = verifier_of(bytes);
    if (verifier.VerifyOffset(0) == 0) return false;
    const auto* root = reinterpret_cast<const flatbuffers::Table*>(fbs::GetRoot(bytes.data()));
    const auto shallow = [&](const flatbuffers::Table* table, flatbuffers::voffset_t field) {
        const bool good = table->VerifyTableStart(verifier) && table->VerifyOffset(verifier, field);
        verifier.EndTable();
        return good;
    };
    using Tables = flatbuffers::Vector<flatbuffers::Offset<flatbuffers::Table>>;
    using Strings = flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>;
    if (!shallow(root, fbs::Root::VT_MEMORIES)) return false;
    const auto* memories = root->GetPointer<const Tables*>(fbs::Root::VT_MEMORIES);
    if (!verifier.VerifyVector(memories)) return false;
    std::uint64_t names = 0;
    for (std::uint32_t i = 0; memories && i < memories->size(); ++i) {
        const flatbuffers::Table* memory = memories->Get(i);
        if (!shallow(memory, fbs::Memory::VT_CONTENTS)) return false;
        const auto* contents = memory->GetPointer<const Strings*>(fbs::Memory::VT_CONTENTS);
        if (!verifier.VerifyVector(contents)) return false;
        if (contents && (names += contents->size()) > kMaxNames) return false;
    }
    return true;
}

}  // namespace

const fbs::Root& verified_root(const std::string& bytes, const std::string& file)
{
    if (bytes.size() < 16) throw ConfigError(file, "is too short, expected a loadable: a FlatBuffer of at least 16 bytes");
    flatbuffers::Verifier verifier = verifier_of(bytes);
    if (!contents_bounded(bytes) || !fbs::VerifyRootBuffer(verifier))
        throw ConfigError(file, "is no FlatBuffer of a loadable, expected a file that the NVDLA compiler has written, and all of it");
    return *fbs::GetRoot(bytes.data());
}

}  // namespace dlasim::loadable
