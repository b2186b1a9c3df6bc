#include "loadable/host_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/error.h"
#include "config/model/fp16.h"

namespace dlasim::loadable {
namespace {

constexpr std::uint64_t kHeaderBytes = 6, kFirstEdition = 16, kSecondEdition = 24, kBufferStep = 256;
constexpr std::uint64_t kMaxBuffer = 1u << 28;  // bytes of a buffer

std::uint64_t number(const std::vector<std::uint8_t>& bytes, std::size_t at, std::size_t count)
{
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count; ++i) value |= std::uint64_t{bytes[at + i]} << (8 * i);
    return value;
}
int index(const std::vector<std::uint8_t>& bytes, std::size_t at) { return static_cast<std::int16_t>(number(bytes, at, 2)); }
float real(const std::vector<std::uint8_t>& bytes, std::size_t at)
{
    return std::bit_cast<float>(static_cast<std::uint32_t>(number(bytes, at, 4)));
}

class HostReader {
public:
    HostReader(const Loadable& loadable, const MemoryPlan& memories, std::size_t task)
        : memories_(memories), task_(loadable.tasks[task]), where_(loadable.where("task", task))
    {
        host_.task = task;
    }

    HostTask read()
    {
        const Version version = memories_.version(task_, 0, where_);
        if (version.major != 0 || version.minor != 0)
            throw ConfigError(where_, "has host interface version " + text(version) + ", expected 0.0");
        const auto header = memories_.view(task_, 0, where_).bytes(0, kHeaderBytes);
        const MemoryView operations = memories_.view(task_, index(header, 0), where_),
                         buffers = memories_.view(task_, index(header, 2), where_);
        const std::uint64_t count = number(header, 4, 2);
        first_edition_ = operations.size() < kSecondEdition * count;
        const std::uint64_t step = first_edition_ ? kFirstEdition : kSecondEdition;
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::string where = fmt::format("{}: host operation {}", where_, i);
            const auto bytes = operations.bytes(i * step, step);
            HostOperation operation;
            if (bytes[0] > 1) throw ConfigError(where, fmt::format("has type {}, expected 0 (power) or 1 (softmax)", bytes[0]));
            operation.type = static_cast<HostOperation::Type>(bytes[0]);
            if (!first_edition_) {
                operation.input_scale = real(bytes, 4);
                operation.output_scale = real(bytes, 8);
            }
            if (operation.type == HostOperation::Type::Power) {
                const std::size_t at = first_edition_ ? 1 : 12;
                operation.power = real(bytes, at);
                operation.scale = real(bytes, at + 4);
                operation.shift = real(bytes, at + 8);
            }
            operation.source = read_buffer(buffers.bytes(2 * i * kBufferStep, 26), where);
            operation.destination = read_buffer(buffers.bytes((2 * i + 1) * kBufferStep, 26), where);
            fit(operation, where);
            host_.operations.push_back(operation);
        }
        return std::move(host_);
    }

private:
    HostBuffer read_buffer(const std::vector<std::uint8_t>& bytes, const std::string& where) const
    {
        const std::size_t at = first_edition_ ? 6 : 10;
        std::uint64_t format = number(bytes, at, 2);
        if (first_edition_) format = format == 0 ? 0 : format == 2 ? 3 : 2;  // their fp16 is 2
        if (format != 0 && format != 1 && format != 3)
            throw ConfigError(where, fmt::format("has a buffer of format {}, expected int8 or fp16", number(bytes, at, 2)));
        HostBuffer buffer;
        buffer.atom = format == 1 ? 8 : 32;
        buffer.element = format == 3 ? 2 : 1;
        const std::uint64_t offset = first_edition_ ? 0 : number(bytes, 2, 4);
        buffer.width = static_cast<std::uint32_t>(number(bytes, at + 2, 2));
        buffer.height = static_cast<std::uint32_t>(number(bytes, at + 4, 2));
        buffer.channels = static_cast<std::uint32_t>(number(bytes, at + 6, 2));
        buffer.strides = {.line = number(bytes, at + 8, 4), .surface = number(bytes, at + 12, 4)};
        const MemoryView memory = memories_.view(task_, index(bytes, 0), where);
        if (offset > memory.size()) throw ConfigError(where, fmt::format("has a buffer from byte {} of {} on", offset, memory.size()));
        buffer.place = memories_.place(task_, index(bytes, 0), where);
        buffer.place.address += offset;
        buffer.bytes = memory.size() - offset;
        return buffer;
    }

    /// Elements of the source go to the same positions of the destination. The buffers end after their last element.
    static void fit(HostOperation& o, const std::string& where)
    {
        const bool softmax = o.type == HostOperation::Type::Softmax;
        HostBuffer &in = o.source, &out = o.destination;
        if (in.width == 0 || in.height == 0 || in.channels == 0) throw ConfigError(where, "has a buffer of no elements");
        if (in.element != out.element) throw ConfigError(where, "has buffers of int8 and of fp16, expected the same");
        out.atom = in.atom;
        // Of softmax the channels of the source make the sum, and those of the destination are written.
        const std::uint32_t most = softmax ? std::max(in.channels, out.channels) : in.channels;
        if (softmax) in.width = in.height = out.width = out.height = 1;
        for (HostBuffer* buffer : {&in, &out}) {
            const std::uint32_t channels = softmax && buffer == &out ? out.channels : most;
            if (channels == 0) {
                buffer->bytes = 0;
                continue;
            }
            const std::uint64_t elements = std::uint64_t{in.width} * in.height * channels;
            const std::uint64_t last =
                softmax ? std::uint64_t{channels - 1} * buffer->element : buffer->offset(in.channels - 1, in.height - 1, in.width - 1);
            if (last + buffer->element > buffer->bytes || elements * buffer->element > buffer->bytes || last > kMaxBuffer)
                throw ConfigError(where, fmt::format("has {} elements up to byte {} in a buffer, expected them within its {} bytes",
                                                     elements, last + buffer->element, buffer->bytes));
            buffer->bytes = last + buffer->element;
        }
    }

    const MemoryPlan& memories_;
    const Task& task_;
    std::string where_;
    HostTask host_;
    bool first_edition_ = false;
};

/// Elements of a buffer as numbers.
struct Numbers {
    const HostOperation& o;
    std::vector<std::uint8_t>& bytes;
    unsigned element;

    float get(std::uint64_t at) const
    {
        if (element == 2) return static_cast<float>(double_from_fp16(static_cast<std::uint16_t>(number(bytes, at, 2))));
        return static_cast<float>(static_cast<std::int8_t>(bytes[at])) * o.input_scale;
    }
    void put(std::uint64_t at, float value)
    {
        if (element == 2) {
            const std::uint16_t half = fp16_from_double(static_cast<double>(value));
            bytes[at] = static_cast<std::uint8_t>(half);
            bytes[at + 1] = static_cast<std::uint8_t>(half >> 8);
            return;
        }
        const float cut = std::trunc(value / o.output_scale);
        bytes[at] = static_cast<std::uint8_t>(std::isnan(cut) ? 0 : static_cast<int>(std::clamp(cut, -128.0f, 127.0f)));
    }
};

float rounded_to_half(float value) { return static_cast<float>(double_from_fp16(fp16_from_double(static_cast<double>(value)))); }

void power(const HostOperation& o, const Numbers& in, Numbers& out)
{
    for (std::uint32_t c = 0; c < o.source.channels; ++c)
        for (std::uint32_t y = 0; y < o.source.height; ++y)
            for (std::uint32_t x = 0; x < o.source.width; ++x) {
                const float base = o.shift + o.scale * in.get(o.source.offset(c, y, x));
                out.put(o.destination.offset(c, y, x),
                        static_cast<float>(std::pow(static_cast<double>(base), static_cast<double>(o.power))));
            }
}

void softmax(const HostOperation& o, const Numbers& in, Numbers& out)
{
    const std::uint32_t summed = o.source.channels, written = o.destination.channels;
    std::vector<float> values;
    for (std::uint32_t c = 0; c < std::max(summed, written); ++c) values.push_back(rounded_to_half(in.get(std::uint64_t{c} * in.element)));
    const float top = *std::max_element(values.begin(), values.begin() + summed);
    float sum = 0;
    for (std::uint32_t c = 0; c < values.size(); ++c) {
        values[c] = static_cast<float>(std::exp(static_cast<double>(values[c] - top)));
        if (c < summed) sum += values[c];
    }
    for (std::uint32_t c = 0; c < written; ++c) out.put(std::uint64_t{c} * out.element, rounded_to_half(values[c] / sum));
}

}  // namespace

HostTask read_host_task(const Loadable& loadable, const MemoryPlan& memories, std::size_t task)
{
    return HostReader(loadable, memories, task).read();
}

void run_host_task(const HostTask& task, const ReadBytes& read, const WriteBytes& write)
{
    for (const HostOperation& o : task.operations) {
        std::vector<std::uint8_t> source = read(o.source.place, o.source.bytes),
                                  destination = read(o.destination.place, o.destination.bytes);
        const Numbers in{o, source, o.source.element};
        Numbers out{o, destination, o.destination.element};
        if (o.type == HostOperation::Type::Power) power(o, in, out);
        else softmax(o, in, out);
        write(o.destination.place, destination);
    }
}

}  // namespace dlasim::loadable
