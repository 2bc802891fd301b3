"""shifu"""
