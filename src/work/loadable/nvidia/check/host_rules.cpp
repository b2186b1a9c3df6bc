#include <fmt/format.h>

#include <bit>

#include "base/bits.h"
#include "loadable/descriptor_fields.h"
#include "loadable/nvidia/check/checked_file.h"

namespace dlasim::loadable {
namespace {

constexpr std::uint64_t kHeader = 6, kStep = 24, kBuffers = 512, kBuffer = 256, kBufferFields = 26;
constexpr unsigned kSoftmax = 1, kSmallAtoms = 1, kHalves = 3;  // a type; formats

struct Buffer {
    std::int16_t entry = 0;
    std::uint32_t offset = 0, size = 0;
    std::uint16_t format = 0, width = 0, height = 0, channels = 0;
    std::uint32_t line = 0, surface = 0;

    std::uint32_t atom() const { return format == kSmallAtoms ? 8 : 32; }
    std::uint32_t element() const { return format == kHalves ? 2 : 1; }
};

class HostCheck {
public:
    HostCheck(CheckedFile& f, std::size_t task) : f_(f), task_(f.file.tasks[task]), place_(fmt::format("task {}", task)) {}

    void run()
    {
        const auto header = list(0, "network descriptor");
        if (!header || header->size() < kHeader) return refuse("has no network descriptor");
        Fields fields(header->bytes(0, kHeader));
        std::int16_t operations = 0, buffers = 0;
        std::uint16_t count = 0;
        fields.fields(operations, buffers, count);
        if (count == 0) f_.doubt("host", place_, "has no operations");
        const auto o = list(operations, "operation list"), b = list(buffers, "buffer list");
        if (!o || !b) return;
        if (o->size() < kStep * count)
            return refuse(fmt::format("has an operation list of {} bytes, expected {} for {} operations", o->size(), kStep * count, count));
        if (count != 0 && b->size() < kBuffers * (count - 1u) + kBuffer + kBufferFields)
            return refuse(fmt::format("has a buffer list of {} bytes, expected {} for {} operations", b->size(), kBuffers * count, count));
        for (std::uint64_t i = 0; i < count; ++i) check_operation(i, *o, *b);
    }

private:
    void refuse(std::string problem) { f_.refuse("host", place_, std::move(problem)); }

    /// Here the offset of the address counts.
    std::optional<MemoryView> list(int entry, const char* what)
    {
        if (entry < 0 || static_cast<std::size_t>(entry) >= task_.addresses.size()) {
            refuse(fmt::format("has its {} in entry {} of a list of {}", what, entry, task_.addresses.size()));
            return std::nullopt;
        }
        const auto at = static_cast<std::size_t>(entry);
        return f_.view(f_.memory(task_, at), f_.address(task_, at).offset);
    }

    static Buffer buffer_of(const MemoryView& buffers, std::uint64_t at)
    {
        Fields fields(buffers.bytes(at, kBufferFields));
        Buffer b;
        fields.fields(b.entry, b.offset, b.size, b.format, b.width, b.height, b.channels, b.line, b.surface);
        return b;
    }

    void check_buffer(const std::string& where, const char* name, const Buffer& b, bool softmax)
    {
        if (b.entry < 0 || static_cast<std::size_t>(b.entry) >= task_.addresses.size())
            return f_.refuse("host", where, fmt::format("has its {} in entry {} of a list of {}", name, b.entry, task_.addresses.size()));
        const auto at = static_cast<std::size_t>(b.entry);
        const RawMemory& memory = f_.memory(task_, at);
        if (memory.domain == 1) f_.refuse("host", where, fmt::format("has its {} in SRAM, which is a null pointer", name));
        if (b.format != 0 && b.format != kSmallAtoms && b.format != kHalves)
            f_.refuse("host", where, fmt::format("has its {} in format {}, expected 0, 1 or 3: the output is not written", name, b.format));
        const std::int64_t surfaces = ceil_div<std::int64_t>(std::int64_t{b.channels} * b.element(), b.atom()) - 1;
        const std::int64_t need = softmax ? std::int64_t{b.channels} * b.element()
                                          : surfaces * b.surface + (std::int64_t{b.height} - 1) * b.line + std::int64_t{b.width} * b.atom();
        const std::uint64_t offset = f_.address(task_, at).offset, begin = std::min(offset, memory.size) + b.offset;
        const auto left = static_cast<std::int64_t>(memory.size) - static_cast<std::int64_t>(begin);
        if (need > left)
            f_.refuse("host", where, fmt::format("needs {} bytes for its {}, there are {}", need, name, std::max<std::int64_t>(left, 0)));
    }

    void check_operation(std::uint64_t i, const MemoryView& operations, const MemoryView& buffers)
    {
        const std::string where = fmt::format("{}: host operation {}", place_, i);
        Fields fields(operations.bytes(kStep * i, kStep));
        const unsigned type = fields.get<std::uint8_t>();
        fields.gap(3);
        const auto in_scale = std::bit_cast<float>(fields.get<std::uint32_t>()),
                   out_scale = std::bit_cast<float>(fields.get<std::uint32_t>());
        const bool softmax = type == kSoftmax;
        if (type > kSoftmax) f_.refuse("host", where, fmt::format("has type {}, expected 0 (power) or 1 (softmax): it is skipped", type));
        const Buffer source = buffer_of(buffers, kBuffers * i), destination = buffer_of(buffers, kBuffers * i + kBuffer);
        check_buffer(where, "source", source, softmax);
        check_buffer(where, "destination", destination, softmax);
        if (source.format != destination.format)
            f_.refuse("host", where, fmt::format("has buffers of formats {} and {}, expected the same", source.format, destination.format));
        if (source.format <= kSmallAtoms && (in_scale == 0.0f || out_scale == 0.0f))
            f_.refuse("host", where, fmt::format("has scales {} and {}, expected both of int8", in_scale, out_scale));
        if (softmax && (source.width != 1 || source.height != 1))
            f_.doubt("host", where,
                     fmt::format("is a softmax of {} x {} positions, of which only the first is computed", source.width, source.height));
        if (softmax && std::uint32_t{source.channels} * source.element() > source.atom() && source.surface != source.atom())
            f_.refuse(
                "host", where,
                fmt::format("is a softmax with surfaces {} apart, expected {}: it reads adjacent channels", source.surface, source.atom()));
    }

    CheckedFile& f_;
    const RawTask& task_;
    std::string place_;
};

}  // namespace

void check_host_task(CheckedFile& f, std::size_t task) { HostCheck(f, task).run(); }

}  // namespace dlasim::loadable
