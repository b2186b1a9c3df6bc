// What no unit does, on the host: from the tensors of the machine between two of its steps, in no time of the machine.
//
//   pool      windows beyond PDP's: exact, averages to the nearest, ties away from zero
//   upsample  every element x * y times
//   softmax   over the channels of a place; a step of the input is 1/16, of the output 1/127
//   tanh      a step of the input is 4/127, of the output 1/127
//   concat    parts at other addresses are copied
//
// Where layers have numbers (docs/ONNX.md) the grids of the tensors define a step, ties of functions go to even, and:
//
//   pool      averages that leave the padding out
//   upsample  channels too
//   function  every one of the 256 integers by itself, in double precision
//   reshape   elements moved: config/model/compute.h
//   compute   of whole tensors in double precision: the same
#pragma once
#include "config/model/tensors.h"
#include "network/steps.h"

namespace dlasim {

/// `inputs` in the order of the step's.
Tensor host_output(const Network& network, const Steps& steps, const Step& step, const std::vector<const Tensor*>& inputs);

}  // namespace dlasim
