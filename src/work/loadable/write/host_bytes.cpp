#include "loadable/write/host_bytes.h"

#include <bit>

namespace dlasim::loadable {
namespace {

constexpr std::size_t kHostListBytes = 6, kHostOperationBytes = 24, kHostBufferBytes = 256;
constexpr std::uint8_t kSoftmaxCode = 1;

void put_bytes(std::vector<std::uint8_t>& to, std::size_t at, std::uint64_t value, std::size_t count)
{
    for (std::size_t i = 0; i < count; ++i) to[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
}

/// 0: int8 in atoms of 32 bytes, 1: of 8 bytes, 3: fp16.
unsigned buffer_format(const HostSoftmax& softmax) { return softmax.element == 2 ? 3 : softmax.atom == 8 ? 1 : 0; }

void put_buffer(std::vector<std::uint8_t>& to, std::size_t at, std::int16_t index, std::uint32_t offset, const HostSoftmax& softmax)
{
    put_bytes(to, at, static_cast<std::uint16_t>(index), 2);
    put_bytes(to, at + 2, offset, 4);
    put_bytes(to, at + 6, std::uint64_t{softmax.channels} * softmax.element, 4);
    put_bytes(to, at + 10, buffer_format(softmax), 2);
    put_bytes(to, at + 12, 1, 2);  // width
    put_bytes(to, at + 14, 1, 2);  // height
    put_bytes(to, at + 16, softmax.channels, 2);
    put_bytes(to, at + 18, softmax.atom, 4);  // lines
    put_bytes(to, at + 22, softmax.atom, 4);  // surfaces
}

}  // namespace

HostOperation HostSoftmax::operation() const
{
    HostOperation o;
    o.type = HostOperation::Type::Softmax;
    o.input_scale = input_scale;
    o.output_scale = output_scale;
    o.source = {source, std::uint64_t{channels} * element, atom, element, 1, 1, channels, {.line = atom, .surface = atom}};
    o.destination = o.source;
    o.destination.place = destination;
    return o;
}

HostLists host_lists(const HostSoftmax& softmax, std::uint32_t source_offset, std::uint32_t destination_offset)
{
    HostLists lists{std::vector<std::uint8_t>(kHostListBytes), std::vector<std::uint8_t>(kHostOperationBytes),
                    std::vector<std::uint8_t>(2 * kHostBufferBytes)};
    put_bytes(lists.network, 0, kHostOperations, 2);
    put_bytes(lists.network, 2, kHostBuffers, 2);
    put_bytes(lists.network, 4, 1, 2);
    lists.operations[0] = kSoftmaxCode;
    put_bytes(lists.operations, 4, std::bit_cast<std::uint32_t>(softmax.input_scale), 4);
    put_bytes(lists.operations, 8, std::bit_cast<std::uint32_t>(softmax.output_scale), 4);
    put_bytes(lists.operations, 12, 1, 1);  // axis, which nothing reads
    put_buffer(lists.buffers, 0, kHostSource, source_offset, softmax);
    put_buffer(lists.buffers, kHostBufferBytes, kHostDestination, destination_offset, softmax);
    return lists;
}

}  // namespace dlasim::loadable
