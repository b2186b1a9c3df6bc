dlasim_test(elements_law_test.cpp quick USES dlasim::rubik dlasim::elements)
