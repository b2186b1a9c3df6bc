#include "loadable/nvidia/check/raw_file.h"

#include <algorithm>

#include "loadable/verified_root.h"

namespace dlasim::loadable {
namespace {

std::optional<Version> raw_version(const fbs::Version* from)
{
    if (!from) return std::nullopt;
    return Version{from->major(), from->minor(), from->sub_minor()};
}

std::optional<std::string> raw_name(const flatbuffers::String* from)
{
    if (!from) return std::nullopt;
    return from->str();
}

template <class T>
std::vector<T> numbers(const flatbuffers::Vector<T>* from)
{
    std::vector<T> all;
    for (std::uint32_t i = 0; from && i < from->size(); ++i) all.push_back(from->Get(i));
    return all;
}

RawMemory raw(const fbs::Memory& from)
{
    RawMemory memory{from.id(),   from.flags(), from.bind_id(),         from.tensor_desc_id(), from.domain(),
                     from.size(), {},           numbers(from.offsets())};
    for (std::uint32_t i = 0; from.contents() && i < from.contents()->size(); ++i)
        memory.contents.push_back(from.contents()->Get(i)->str());
    return memory;
}

RawBlob raw(const fbs::Blob& from)
{
    RawBlob blob{raw_name(from.name()), raw_version(from.version()), from.data() != nullptr, from.size()};
    if (!from.data()) return blob;
    blob.held = from.data()->size();
    blob.bytes = {from.data()->data(), static_cast<std::size_t>(std::min(blob.held, blob.size))};
    return blob;
}

RawAddress raw(const fbs::Address& from) { return {from.id(), from.mem_id(), from.offset()}; }
RawTask raw(const fbs::Task& from) { return {from.interface(), from.instance(), numbers(from.address_list())}; }
RawRelocation raw(const fbs::Relocation& from) { return {from.write_id(), from.offset()}; }
RawSubmit raw(const fbs::Submit& from) { return {from.id(), numbers(from.task_ids())}; }
RawTensor raw(const fbs::Tensor& from)
{
    return {raw_name(from.name()), from.id(), from.mem_id(), from.data_type(), from.pixel_format(), from.size(), from.c()};
}

}  // namespace

RawFile read_raw(const std::string& bytes, const std::string& file)
{
    const fbs::Root& root = verified_root(bytes, file);
    RawFile f;
    f.identified = bytes.compare(4, 4, "NVDA") == 0;
    f.version = raw_version(root.version());
    const auto list = [&f](const auto* from, auto& to, const char* what) {
        if (!from) f.absent.push_back(what);
        for (std::uint32_t i = 0; from && i < from->size(); ++i) to.push_back(raw(*from->Get(i)));
    };
    list(root.tasks(), f.tasks, "tasks");
    list(root.memories(), f.memories, "memories");
    list(root.addresses(), f.addresses, "addresses");
    if (!root.events()) f.absent.push_back("events");
    list(root.blobs(), f.blobs, "blobs");
    list(root.tensors(), f.tensors, "tensors");
    list(root.relocations(), f.relocations, "relocations");
    list(root.submits(), f.submits, "submits");
    return f;
}

}  // namespace dlasim::loadable
