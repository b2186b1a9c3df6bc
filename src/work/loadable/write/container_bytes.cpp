#include "loadable/write/container_bytes.h"

#include "base/error.h"
#include "loadable_generated.h"

namespace dlasim::loadable {
namespace {

using Builder = flatbuffers::FlatBufferBuilder;
template <class T>
using Tables = std::vector<flatbuffers::Offset<T>>;

constexpr std::uint8_t kImage = 0, kFeature = 2;                         // data categories
constexpr std::uint8_t kNhwc = 2, kSurfaces = 3;                         // data formats
constexpr unsigned kFirstFeatures = 36;                                  // pixel format
constexpr unsigned kHalfType = 2, kWordType = 3, kUnsignedWordType = 6;  // data types

fbs::Version version_of(const Version& v)
{
    return {static_cast<std::uint8_t>(v.major), static_cast<std::uint8_t>(v.minor), static_cast<std::uint8_t>(v.sub_minor)};
}
std::uint16_t id_of(std::size_t i) { return static_cast<std::uint16_t>(i); }

std::uint32_t bytes_of_element(unsigned type) { return type == kHalfType || type == kWordType || type == kUnsignedWordType ? 2 : 1; }

class ContainerWriter {
public:
    explicit ContainerWriter(const Loadable& loadable) : l_(loadable) {}

    std::string write()
    {
        const fbs::Version version = version_of(l_.version);
        const auto tasks = b_.CreateVector(task_tables());
        const auto memories = b_.CreateVector(memory_tables());
        const auto addresses = b_.CreateVector(address_tables());
        const auto events = b_.CreateVector(Tables<fbs::Event>());
        const auto blobs = b_.CreateVector(blob_tables());
        const auto tensors = b_.CreateVector(tensor_tables());
        const auto relocations = b_.CreateVector(Tables<fbs::Relocation>());
        const auto submits = b_.CreateVector(submit_tables());
        b_.Finish(fbs::CreateRoot(b_, &version, tasks, memories, addresses, events, blobs, tensors, relocations, submits), "NVDA");
        return {reinterpret_cast<const char*>(b_.GetBufferPointer()), b_.GetSize()};
    }

private:
    Tables<fbs::Task> task_tables()
    {
        Tables<fbs::Task> all;
        for (const Task& task : l_.tasks) {
            const auto list = b_.CreateVector(task.addresses);
            const auto before = b_.CreateVector(std::vector<std::uint16_t>()), after = b_.CreateVector(std::vector<std::uint16_t>());
            all.push_back(fbs::CreateTask(b_, id_of(all.size()), static_cast<std::uint32_t>(task.interface), -1, list, before, after));
        }
        return all;
    }
    Tables<fbs::Memory> memory_tables()
    {
        Tables<fbs::Memory> all;
        for (const MemoryEntry& memory : l_.memories) {
            std::vector<flatbuffers::Offset<flatbuffers::String>> names;
            std::vector<std::uint64_t> places;
            for (const Content& content : memory.contents) {
                names.push_back(b_.CreateString(l_.blobs[content.blob].name));
                places.push_back(content.offset);
            }
            const auto contents = b_.CreateVector(names);
            const auto offsets = b_.CreateVector(places);
            all.push_back(fbs::CreateMemory(b_, id_of(all.size()), static_cast<std::uint8_t>(memory.domain), id_of(memory.flags),
                                            memory.size, static_cast<std::uint32_t>(memory.alignment), contents, offsets,
                                            id_of(memory.bind), id_of(memory.tensor)));
        }
        return all;
    }
    Tables<fbs::Address> address_tables()
    {
        Tables<fbs::Address> all;
        for (const AddressEntry& address : l_.addresses)
            all.push_back(fbs::CreateAddress(b_, id_of(all.size()), id_of(address.memory), address.offset,
                                             l_.memories[address.memory].size - address.offset));
        return all;
    }
    Tables<fbs::Blob> blob_tables()
    {
        Tables<fbs::Blob> all;
        for (const Blob& blob : l_.blobs) {
            const auto name = b_.CreateString(blob.name);
            const auto data = b_.CreateVector(blob.bytes.data(), blob.bytes.size());
            const fbs::Version version = version_of(blob.version);
            all.push_back(fbs::CreateBlob(b_, name, blob.bytes.size(), blob.interface, blob.sub_interface, &version, data));
        }
        return all;
    }
    Tables<fbs::Tensor> tensor_tables()
    {
        Tables<fbs::Tensor> all;
        for (std::size_t i = 0; i < l_.tensors.size(); ++i) {
            const TensorEntry& t = l_.tensors[i];
            std::uint16_t memory = 0;
            for (std::size_t m = 0; m < l_.memories.size(); ++m)
                if ((l_.memories[m].is(MemoryEntry::Input) || l_.memories[m].is(MemoryEntry::Output)) && l_.memories[m].tensor == i)
                    memory = id_of(m);
            const bool features = t.pixel_format >= kFirstFeatures;
            const auto size = [](std::uint32_t value) { return static_cast<std::int32_t>(value); };
            all.push_back(fbs::CreateTensor(
                b_, b_.CreateString(t.name), id_of(i), memory, t.size, 0, features ? kSurfaces : kNhwc, static_cast<std::uint8_t>(t.type),
                features ? kFeature : kImage, static_cast<std::uint8_t>(t.pixel_format), 0, size(t.n), size(t.c), size(t.h), size(t.w),
                bytes_of_element(t.type), static_cast<std::uint32_t>(t.line_stride), static_cast<std::uint32_t>(t.surface_stride)));
        }
        return all;
    }
    Tables<fbs::Submit> submit_tables()
    {
        Tables<fbs::Submit> all;
        for (const std::size_t task : l_.order) {
            const auto tasks = b_.CreateVector(std::vector<std::uint16_t>{id_of(task)});
            all.push_back(fbs::CreateSubmit(b_, id_of(all.size()), tasks));
        }
        return all;
    }

    const Loadable& l_;
    Builder b_;
};

}  // namespace

std::string loadable_bytes(const Loadable& loadable)
{
    std::uint64_t bytes = 0;
    for (const Blob& blob : loadable.blobs) bytes += blob.bytes.size();
    if (bytes > kMaxBytes) throw ConfigError(loadable.file, "has more than 1 GiB of weights and descriptors, which one file cannot hold");
    return ContainerWriter(loadable).write();
}

}  // namespace dlasim::loadable
